// An editor for Python in the place of a block of code.
import { basicSetup, EditorView } from "codemirror";
import { indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { keymap } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

export function editor(parent, text, { label, changed, run }) {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        keymap.of([{ key: "Mod-Enter", run: () => { run(); return true; } }, indentWithTab]),
        basicSetup, EditorView.lineWrapping, python(), indentUnit.of("    "), syntaxHighlighting(classHighlighter),
        EditorView.contentAttributes.of({ "aria-label": label, "aria-describedby": "live-keys" }),
        EditorView.updateListener.of((update) => { if (update.docChanged) changed(view.state.doc.toString()); }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    put: (other) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: other } }),
  };
}
