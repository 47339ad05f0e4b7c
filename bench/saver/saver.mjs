// Takes steps with LangGraph's SqliteSaver as a graph does, put and then putWrites, and tells how long each took:
//
//   node saver.mjs FILE SYNCHRONOUS SHAPE
//
// A line of input is a number of steps; the answer is a list of nanoseconds. The first line of output names the versions.
// The shape is that of the state: "text", 1 KB that each step replaces; "list", 256 KB to which each step adds 1 KB;
// "whole", 256 KB that each step replaces.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import Database from "better-sqlite3";
import { uuid6 } from "@langchain/langgraph-checkpoint";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";

const [file, synchronous, shape] = process.argv.slice(2);
const text = "x".repeat(1022);
const list = () => Array.from({ length: 256 }, () => text);

const db = new Database(file);
const saver = new SqliteSaver(db);
saver.setup();
db.pragma(`synchronous = ${synchronous}`);
const want = { NORMAL: 1, FULL: 2 }[synchronous];
const [journal, waits] = ["journal_mode", "synchronous"].map((name) => db.pragma(name, { simple: true }));
if (journal !== "wal" || waits !== want) throw new Error(`journal_mode ${journal}, synchronous ${waits}`);

const version = (name) => createRequire(import.meta.url)(`${name}/package.json`).version;
console.log(`LangGraph JS SqliteSaver ${version("@langchain/langgraph-checkpoint-sqlite")}, better-sqlite3 ${version("better-sqlite3")}, ` +
  `SQLite ${db.prepare("SELECT sqlite_version()").pluck().get()}, Node ${process.versions.node}`);

let config = { configurable: { thread_id: "t", checkpoint_ns: "" } };
let step = 0;
let state = shape === "text" ? text : list();

// advance gives what the node of a step returned.
function advance() {
  switch (shape) {
    case "text": return (state = text);
    case "list": state.push(text); return [text];
    case "whole": return (state = list());
    default: throw new Error(`no shape ${shape}`);
  }
}

async function take() {
  const value = advance();
  step++;
  const start = process.hrtime.bigint();
  const checkpoint = {
    v: 4, id: uuid6(step), ts: new Date().toISOString(), channel_values: { state }, channel_versions: { state: step },
    versions_seen: { a: { state: step - 1 } },
  };
  config = await saver.put(config, checkpoint, { source: "loop", step, parents: {} });
  await saver.putWrites(config, [["state", value]], `task-${step}`);
  return Number(process.hrtime.bigint() - start);
}

for await (const line of createInterface({ input: process.stdin })) {
  const took = [];
  for (let n = Number(line); n > 0; n--) took.push(await take());
  console.log(JSON.stringify(took));
}
