// What several pages say of a sync.
import { tag } from "./parts.js";

/** Whether a run that ended well left something that a person has to look at. */
export const needsLook = (counts) => ["failed", "conflicting", "inDoubt", "flagged", "skipped"].some((key) => counts[key] > 0);

export const syncTag = (sync) => (sync.status === "DONE" && needsLook(sync) ? tag("look", "DONE, look") : tag(sync.status));

/** The soups that a sync reads or writes: its own, and those of its target's children and pointers. */
export function soupsOf(sync) {
  const target = sync.target ?? {}, pointers = Object.values(target.pointers ?? {}).map((pointer) => pointer?.soup);
  return new Set([sync.soupName, target.parent?.soupName, target.children?.soupName, ...pointers].filter(Boolean));
}
