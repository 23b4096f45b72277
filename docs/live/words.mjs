// The words of the page in its two languages.
export const WORDS = {
  en: {
    run: "Run", check: "Check", stop: "Stop", hint: "Hint", step: "Step through", write: "Write as NumPy",
    share: "Copy a link", save: "Save my work", load: "Load my work", score: "Score", name: "Your name", train: "Train",
    editor: "Editor", result: "Result", stepper: "Steps of the computation",
    getting: "Python is on its way: {done} of {all} MB", starting: "Python starts", packages: "Loading {name}",
    running: "Running. {seconds} s", ready: "Ready", stopped: "Stopped. Python starts again; the names of the cells above are gone.",
    ended: "The program ended Python in this page ({error}). Does a function call itself without end? Python starts again.",
    late: "Stopped after {seconds} s.", failed: "Python could not be loaded: {error}",
    notFile: "{name} cannot be reached, or is not the file that this page expects.", shared: "The link is in the clipboard.",
    fromLink: "This program came with the link. Nothing runs until you press Run.", keys: "In an editor, Tab indents, Ctrl+Enter presses the first button, and Escape then Tab leaves it.",
    asked: "Put the first version back? Your version is lost.",
    badFile: "{name} is not a folder of exercises in a .zip.", unsaved: "This browser keeps nothing for this page, so save your work as a file.",
    restart: "Put back",
    drop: "Drop the files of your learners here, or choose them.", table: "Save the table (CSV)", learner: "learner", seed: "seed",
    notScore: "{name}: not a score file", passed: "passed", solved: "Solved", wrong: "Not right yet",
  },
  ja: {
    run: "実行", check: "採点", stop: "停止", hint: "ヒント", step: "一歩ずつ見る", write: "NumPy で書き出す",
    share: "リンクをコピー", save: "自分の作業を保存", load: "保存した作業を開く", score: "成績", name: "名前", train: "訓練する",
    editor: "エディター", result: "結果", stepper: "計算のステップ",
    getting: "Python を読み込んでいます：{all} MB のうち {done} MB", starting: "Python を起動しています", packages: "{name} を読み込んでいます",
    running: "実行中です。{seconds}秒", ready: "準備ができました", stopped: "停止しました。Python を起動し直すので、上のセルで作った名前は消えます。",
    ended: "プログラムが、このページの Python を終わらせました（{error}）。自分自身を呼び続ける関数はありませんか。Python を起動し直します。",
    late: "{seconds}秒で停止しました。", failed: "Python を読み込めませんでした：{error}",
    notFile: "{name} に接続できないか、このページが必要とするファイルと内容が違います。", shared: "リンクをクリップボードにコピーしました。",
    fromLink: "このプログラムはリンクに含まれていたものです。「実行」を押すまで何も実行されません。", keys: "エディターの中では、Tab で字下げします。Ctrl+Enter は、最初のボタンを押すのと同じです。Escape のあと Tab で外に出ます。",
    asked: "最初の状態に戻しますか。今の内容は消えます。",
    badFile: "{name} は課題のフォルダーの .zip ではありません。", unsaved: "このブラウザーには保存できません。作業はファイルに保存してください。",
    restart: "元に戻す",
    drop: "受講者のファイルをここにドロップするか、選んでください。", table: "表を保存（CSV）", learner: "受講者", seed: "シード",
    notScore: "{name}：成績のファイルではありません", passed: "合格", solved: "正解です", wrong: "まだ正しくありません",
  },
};

export const language = document.documentElement.lang.startsWith("ja") ? "ja" : "en";

export function word(key, facts = {}) {
  return WORDS[language][key].replace(/\{(\w+)\}/g, (_, name) => facts[name] ?? "");
}
