// The search and the folding menu. Pages can be read without this script.
(function () {
  "use strict";
  const root = document.currentScript.dataset.root;
  const menu = document.querySelector(".menu");
  const wide = matchMedia("(min-width: 60rem)");
  const fold = () => { menu.open = wide.matches; };
  fold();
  wide.addEventListener("change", fold);
  const here = menu.querySelector("[aria-current]");
  if (here && wide.matches && here.offsetTop > menu.clientHeight - 80) menu.scrollTop = here.offsetTop - menu.clientHeight / 2;

  const box = document.querySelector(".search"), input = document.getElementById("search"), list = document.getElementById("results");
  box.hidden = false;
  let loading, selected = -1;

  // From a file: URL a script can be loaded, and fetch cannot be used. The index comes with the first search.
  function index() {
    loading = loading || new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = root + "/search-index.js";
      script.onload = () => resolve(window.searchIndex.map(([url, page, heading, text]) => (
        { url, page, heading, text, inHeading: (page + " " + heading).toLowerCase(), inText: text.toLowerCase() })));
      script.onerror = reject;
      document.head.append(script);
    });
    return loading;
  }

  function score(entry, words) {
    let sum = 0;
    for (const word of words) {
      const inHeading = entry.inHeading.includes(word), position = entry.inText.indexOf(word);
      if (!inHeading && position < 0) return 0;
      sum += inHeading ? 10 : 1;
      if (entry.heading.toLowerCase().split(/[^\w]+/).includes(word)) sum += 10;
    }
    const guide = entry.url.startsWith("guide/") ? 15 : 0;
    return sum + guide - Math.min(2, entry.text.length / 4000);
  }

  function find(entries, query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    return entries.map((entry) => ({ entry, words, score: score(entry, words) })).filter((one) => one.score > 0)
      .sort((a, b) => b.score - a.score).slice(0, 20);
  }

  function marked(text, words) {
    const parts = document.createDocumentFragment();
    const pattern = new RegExp("(" + words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|") + ")", "gi");
    text.split(pattern).forEach((part, i) => {
      if (i % 2 === 0) return parts.append(part);
      const mark = document.createElement("mark");
      mark.textContent = part;
      parts.append(mark);
    });
    return parts;
  }

  function snippet(entry, words) {
    const first = Math.min(...words.map((word) => entry.inText.indexOf(word)).filter((position) => position >= 0), entry.text.length);
    const start = first === entry.text.length ? 0 : Math.max(0, first - 50);
    return (start ? "… " : "") + entry.text.slice(start, start + 150) + (entry.text.length > start + 150 ? " …" : "");
  }

  function show(found, query) {
    list.replaceChildren();
    selected = -1;
    input.removeAttribute("aria-activedescendant");
    for (const { entry, words } of found) {
      const item = document.createElement("li"), link = document.createElement("a"), title = document.createElement("b");
      item.setAttribute("role", "option");
      item.id = "result-" + list.children.length;
      link.href = root + "/" + entry.url;
      link.tabIndex = -1;
      title.textContent = entry.heading.startsWith(entry.page) ? entry.heading : entry.page + ": " + entry.heading;
      const text = document.createElement("small");
      text.append(marked(snippet(entry, words), words));
      link.append(title, text);
      item.append(link);
      list.append(item);
    }
    if (!found.length && query.trim()) {
      const none = document.createElement("li");
      none.className = "none";
      none.textContent = "Nothing found.";
      list.append(none);
    }
    list.hidden = !list.children.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
  }

  function select(step) {
    const items = list.querySelectorAll("[role=option]");
    if (!items.length) return;
    if (selected >= 0) items[selected].setAttribute("aria-selected", "false");
    selected = (selected + step + items.length + (selected < 0 && step < 0 ? 1 : 0)) % items.length;
    items[selected].setAttribute("aria-selected", "true");
    items[selected].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", items[selected].id);
  }

  function close() { list.hidden = true; input.setAttribute("aria-expanded", "false"); }

  input.addEventListener("input", async () => {
    const query = input.value, entries = await index();
    if (query === input.value) show(find(entries, query), query);
  });
  input.addEventListener("focus", () => { index(); if (list.children.length) list.hidden = false; });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      select(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter") {
      const link = list.querySelector("[aria-selected=true] a") || list.querySelector("a");
      if (link) { close(); location.href = link.href; }
    } else if (event.key === "Escape") close();
  });
  document.addEventListener("click", (event) => { if (!box.contains(event.target)) close(); });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) { event.preventDefault(); input.focus(); }
  });

  // index.html?q=words opens with a search, for links and tests.
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) { input.value = asked; input.dispatchEvent(new Event("input")); }
})();
