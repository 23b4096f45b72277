// The words of the page in its two languages.
export const WORDS = {
  en: {
    run: "Run", check: "Check", stop: "Stop", hint: "Hint", reset: "Start again", step: "Step through", write: "Write as NumPy",
    share: "Copy a link", save: "Save my work", load: "Load my work", score: "Score", name: "Your name", train: "Train",
    editor: "Editor", result: "Result", stepper: "Steps of the computation", picture: "Picture", written: "Written-out program",
    getting: "Python is on its way: {done} of {all} MB", starting: "Python starts", packages: "Matplotlib is loaded",
    running: "Running. {seconds} s", ready: "Ready", stopped: "Stopped. Python starts again; the names of the cells above are gone.",
    late: "Stopped after {seconds} s.", failed: "Python could not be loaded: {error}", shared: "The link is in the clipboard.",
    fromLink: "This program came with the link. Nothing runs until you press Run.", keys: "Tab indents; Escape, then Tab leaves the editor. Ctrl+Enter runs.",
    saved: "Your work stays in this browser. {when}", asked: "Put the first version back? Your version is lost.",
    badFile: "{name} is not a folder of exercises in a .zip.", unsaved: "This browser keeps nothing for this page, so save your work as a file.",
    restart: "Put back", original: "The code of the lesson is in the editor again.", here: "Result of this page's Python", hidden: "Show the code of a page",
    drop: "Drop the files of your learners here, or choose them.", table: "Save the table (CSV)", learner: "learner", seed: "seed", right: "right",
    notScore: "{name}: not a score file", passed: "passed", solved: "Solved", wrong: "Not right yet",
  },
  ja: {
    run: "実行", check: "採点", stop: "停止", hint: "ヒント", reset: "最初に戻す", step: "一歩ずつ見る", write: "NumPy で書き出す",
    share: "リンクをコピー", save: "自分の作業を保存", load: "保存した作業を開く", score: "成績", name: "名前", train: "訓練する",
    editor: "エディター", result: "結果", stepper: "計算のステップ", picture: "図", written: "書き出したプログラム",
    getting: "Python を読み込んでいます：{all} MB のうち {done} MB", starting: "Python を起動しています", packages: "Matplotlib を読み込んでいます",
    running: "実行中です。{seconds}秒", ready: "準備ができました", stopped: "停止しました。Python を起動し直すので、上のセルで作った名前は消えます。",
    late: "{seconds}秒で停止しました。", failed: "Python を読み込めませんでした：{error}", shared: "リンクをクリップボードにコピーしました。",
    fromLink: "このプログラムはリンクに含まれていたものです。「実行」を押すまで何も実行されません。", keys: "Tab で字下げします。エディターから出るには、Escape を押してから Tab を押します。Ctrl+Enter で実行します。",
    saved: "作業はこのブラウザーに保存されます。{when}", asked: "最初の状態に戻しますか。今の内容は消えます。",
    badFile: "{name} は課題のフォルダーの .zip ではありません。", unsaved: "このブラウザーには保存できません。作業はファイルに保存してください。",
    restart: "元に戻す", original: "レッスンのコードに戻しました。", here: "このページの Python での結果", hidden: "ページのコードを表示",
    drop: "受講者のファイルをここにドロップするか、選んでください。", table: "表を保存（CSV）", learner: "受講者", seed: "シード", right: "正解",
    notScore: "{name}：成績のファイルではありません", passed: "合格", solved: "正解です", wrong: "まだ正しくありません",
  },
};

export const language = document.documentElement.lang.startsWith("ja") ? "ja" : "en";

export function word(key, facts = {}) {
  return WORDS[language][key].replace(/\{(\w+)\}/g, (_, name) => facts[name] ?? "");
}
