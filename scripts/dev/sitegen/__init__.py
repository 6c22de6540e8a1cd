"""The parts of scripts/dev/site: Markdown to HTML, the pages and their order, colours for code."""
