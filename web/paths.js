// SPDX-License-Identifier: Apache-2.0
//
// Paths of znodes, and how they are encoded in the page's address.

export const parentOf = (path) => path.slice(0, Math.max(1, path.lastIndexOf("/")));
export const nameOf = (path) => (path === "/" ? "/" : path.slice(path.lastIndexOf("/") + 1));
export const childOf = (parent, name) => (parent === "/" ? `/${name}` : `${parent}/${name}`);

// "/a b/c" is "#/tree/a%20b/c".
export const pathToHash = (view, path) => `#/${view}${path.split("/").map(encodeURIComponent).join("/")}`;

export function hashToPath(rest) {
  try {
    return rest.split("/").map(decodeURIComponent).join("/") || "/";
  } catch {
    return "/"; // typed by hand, with a lonely percent sign
  }
}

// Every path from the root down to this one.
export function ancestors(path) {
  const all = ["/"];
  if (path === "/") return all;
  let so_far = "";
  for (const name of path.slice(1).split("/")) all.push((so_far += `/${name}`));
  return all;
}
