// What several pages show.
import { h, s, picture, show } from "./dom.js";
import { stateWords, value } from "./format.js";

export const tag = (state, text = stateWords[state] ?? state) => h("span", { class: `tag ${state}` }, text);

/** A command that says or does the same, to copy. */
export function command(text) {
  const button = h("button", { type: "button", class: "copy", "aria-label": `Copy: ${text}`, onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      show(button, "Copied");
    } catch {
      getSelection().selectAllChildren(code);
      show(button, "Press Ctrl+C");
    }
    setTimeout(() => show(button, "Copy"), 1500);
  } }, "Copy");
  const code = h("code", { tabindex: "0" }, text);
  return h("div", { class: "command", role: "group", "aria-label": "The same on the command line" }, code, button);
}

/**
 * A table; on narrow screens a card a row.
 * columns: {title, cell(row), number?, tight?, wide?}; wide ones are left out on narrow screens.
 */
export function table(caption, columns, rows, { empty = "Nothing." } = {}) {
  if (!rows.length) return h("p", { class: "empty" }, empty);
  const name = (column) => [column.number && "number", column.wide && "wide", column.tight && "tight"].filter(Boolean).join(" ") || null;
  return h("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" },
    h("table", null,
      h("caption", { class: "hidden" }, caption),
      h("thead", null, h("tr", null, columns.map((column) => h("th", { scope: "col", class: name(column) }, column.title)))),
      h("tbody", null, rows.map((row) => h("tr", null, columns.map((column, i) =>
        h(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: name(column), "data-title": column.title }, column.cell(row))))))));
}

export const facts = (pairs) => h("dl", { class: "facts" }, pairs.filter((pair) => pair && pair[1] !== null && pair[1] !== undefined)
  .map(([term, text]) => h("div", null, h("dt", null, term), h("dd", null, text))));

export const panel = (...children) => h("section", { class: "panel" }, ...children);

/** The part of `to` that differs from `from`, marked. */
export function marked(from, to) {
  const a = value(from).split(/(\s+)/), b = value(to).split(/(\s+)/);
  let start = 0, end = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start += 1;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const middle = b.slice(start, b.length - end).join("");
  return [b.slice(0, start).join(""), middle && h("ins", null, middle), b.slice(b.length - end).join("")];
}

export const change = (from, to, most = 40) => {
  const short = (v) => { const text = value(v); return text.length > most ? `${text.slice(0, most - 1)}…` : text; };
  return [from === undefined || from === null ? null : [h("del", null, short(from)), " → "], h("ins", null, short(to))];
};

/** Asks before something is changed. Returns whether to go on. */
export function ask(title, text, action, isLoss) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { "aria-labelledby": "question" },
      h("h2", { id: "question" }, title), h("p", null, text),
      h("div", { class: "buttons" },
        h("button", { type: "button", autofocus: true, onclick: () => dialog.close("no") }, "Cancel"),
        h("button", { type: "button", class: isLoss ? "loss" : "go", onclick: () => dialog.close("yes") }, action)));
    const before = document.activeElement;
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue === "yes");
      dialog.remove();
      before?.focus();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

export const key = (shape, name) => picture({ viewBox: "0 0 14 14", width: 14, height: 14, class: "key" },
  shape === "bar" ? s("rect", { class: name, x: 4, y: 1, width: 6, height: 12, rx: 2 })
    : shape === "dot" ? s("circle", { class: name, cx: 7, cy: 7, r: 4 })
      : shape === "cross" ? s("path", { class: name, d: "M3 3l8 8m0-8l-8 8" })
        : shape === "triangle" ? s("path", { class: name, d: "M7 1.5l6 11h-12z" })
          : s("rect", { class: name, x: 1, y: 3, width: 12, height: 8, rx: 2 }));

export const legend = (...items) => h("ul", { class: "legend" }, items.map(([mark, text]) => h("li", null, mark, text)));
export const more = (shown, total, link) => total > shown && h("p", { class: "more" }, `${shown} of ${total}. `, link);
