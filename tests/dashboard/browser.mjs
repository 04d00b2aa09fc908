// SPDX-License-Identifier: Apache-2.0
//
// Support for the tests: the browser, the servers (world.py, connected to our standard streams), and a page
// that reports every error and every request to another host.

import assert from "node:assert/strict";
import {mkdirSync} from "node:fs";
import {createInterface} from "node:readline";
import {chromium} from "playwright-core";

const lines = createInterface({input: process.stdin})[Symbol.asyncIterator]();
const nextLine = async () => JSON.parse((await lines.next()).value);

export const world = await nextLine();
export const site = `http://127.0.0.1:${world.page}`;
export const bigSite = `http://127.0.0.1:${world.big}`;

// Orders go one after the other; each is answered with a line.
let last = Promise.resolve();
export function order(name, ...parameters) {
  last = last.then(async () => {
    console.log(JSON.stringify({do: name, with: parameters}));
    const answer = await nextLine();
    if (answer.error) throw new Error(answer.error);
    return answer.result;
  });
  return last;
}

// As root there is no sandbox to be had.
const sandbox = process.getuid() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({executablePath: world.chromium, args: sandbox});
mkdirSync(world.pictures, {recursive: true});
export const picture = (page, name) => page.screenshot({path: `${world.pictures}/${name}.png`});

// A page that fails the test for what nobody should see. `expected`: texts of console errors that belong to the test.
export async function withPage(options, use) {
  const {origin = site, expected = [], ...context} = options;
  const page = await browser.newPage({
    viewport: {width: 1280, height: 800},
    colorScheme: "light",
    ...context,
  });
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(`page: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !expected.some((text) => message.text().includes(text)))
      wrong.push(`console: ${message.text()}`);
  });
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) wrong.push(`request to ${request.url()}`);
  });
  page.setDefaultTimeout(15000);
  try {
    await use(page);
    assert.deepEqual(wrong, []);
  } catch (error) {
    await picture(page, "failure").catch(() => {});
    throw error;
  } finally {
    await page.close();
  }
}

export async function until(what, condition, ms = 15000) {
  const give_up = Date.now() + ms;
  for (;;) {
    const found = await condition();
    if (found) return found;
    if (Date.now() > give_up) assert.fail(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const tests = [];
export const test = (name, run) => tests.push({name, run});

export async function runAll(only) {
  let failed = 0;
  let passed = 0;
  for (const {name, run} of tests) {
    if (only && !name.includes(only)) continue;
    const began = Date.now();
    try {
      await run();
      passed++;
      console.log(`ok      ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed++;
      console.log(`FAILED  ${name}\n${error.stack.replace(/^/gm, "        ")}`);
    }
  }
  await browser.close();
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}
