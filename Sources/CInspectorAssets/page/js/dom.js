// Makes elements. Nothing here ever reads text as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...nodes(children));
  return node;
}

/** Flattens lists, and leaves out what is not there. */
export function nodes(children) {
  return [children].flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false && child !== "");
}

export const h = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
export const s = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

/** A picture that readers of the page hear as its label, unless it is only an ornament. */
export const picture = (attributes, ...children) => s("svg", attributes.label
  ? { ...attributes, label: null, role: attributes.role ?? "img", "aria-label": attributes.label }
  : { ...attributes, "aria-hidden": "true" }, ...children);

/** Replaces the contents of a node. */
export function show(node, ...children) {
  node.replaceChildren(...nodes(children));
  return node;
}
