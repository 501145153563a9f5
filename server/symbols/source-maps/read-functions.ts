import { runInNewContext } from 'node:vm'
import { threadCpuMs } from '#server/platform/kernel/thread-task.ts'
import type { FunctionRanges } from './function-ranges.ts'
import type { JsonPiece, JsonText } from './json-pieces.ts'
import { readMetroFunctions } from './metro-functions.ts'
import type { MappedSource } from './read-source-map.ts'
import { findFunctions, isScript } from './source-functions.ts'

/**
 * This many bytes of source are parsed, those of the application first: 0.05 s per megabyte, and ten times that for a source
 * that was written to take long.
 */
const MAX_PARSED_BYTES = 16 * 1024 * 1024

/** A function map of one source has a few kilobytes. */
const MAX_FUNCTION_MAP_BYTES = 4 * 1024 * 1024

/**
 * A source that takes longer was written to: the parser tries some constructs twice, and nested ones more often. Processor
 * time, because the machine may have other work.
 */
const MAX_SOURCE_CPU_MS = 1_000
/** A run of the parser ends after this time, or twice the time where the machine gave it little of the processor. */
const FIRST_RUN_MS = 2_000
const MAX_RUNS = 5

type Script = { readonly index: number; readonly name: string; readonly content: JsonPiece }

/** Reads the functions of sources, by index: from Metro's function maps, otherwise from the contents of scripts. */
export function readFunctions(json: JsonText, sources: readonly MappedSource[]): Map<number, FunctionRanges> {
  const functions = new Map<number, FunctionRanges>()
  const scripts: Script[] = []
  for (const [index, { name, content, functionMap }] of sources.entries()) {
    const isRead = functionMap !== null && functionMap.to - functionMap.from <= MAX_FUNCTION_MAP_BYTES
    const found = isRead ? readMetroFunctions(json.decode(functionMap)) : null
    if (found !== null) functions.set(index, found)
    else if (name !== null && content !== null && isScript(name)) scripts.push({ index, name, content })
  }
  const chosen = chooseScripts(scripts, sources)
  let next = 0
  let startedAtMs = 0
  const parseRest = (): void => {
    for (; next < chosen.length; next++) {
      startedAtMs = threadCpuMs()
      const script = chosen[next]
      const text = script === undefined ? null : json.decode(script.content)
      const found = script !== undefined && typeof text === 'string' ? findFunctions(script.name, text) : null
      if (script !== undefined && found !== null) functions.set(script.index, found)
    }
  }
  let timeoutMs = FIRST_RUN_MS
  for (let run = 0; next < chosen.length && run < MAX_RUNS; run++) {
    if (runWithin(timeoutMs, parseRest)) break
    // The machine may have had no time for this source: it is tried again after the others.
    const [interrupted] = chosen.splice(next, 1)
    if (threadCpuMs() - startedAtMs >= MAX_SOURCE_CPU_MS || interrupted === undefined) continue
    chosen.push(interrupted)
    timeoutMs *= 2
  }
  return functions
}

/** @returns the scripts of the application, then those of packages, as far as the limit allows */
function chooseScripts(scripts: readonly Script[], sources: readonly MappedSource[]): Script[] {
  const isForeign = ({ index, name }: Script): boolean =>
    sources[index]?.isIgnored === true || name.includes('node_modules/')
  const ordered = [...scripts.filter((script) => !isForeign(script)), ...scripts.filter(isForeign)]
  let left = MAX_PARSED_BYTES
  return ordered.filter(({ content }) => {
    const size = content.to - content.from
    if (size > left) return false
    left -= size
    return true
  })
}

/**
 * Runs `work`, and ends it where it is after a time: only what a virtual machine runs can be ended from outside.
 * @returns whether it came to its end
 */
function runWithin(timeoutMs: number, work: () => void): boolean {
  try {
    runInNewContext('work()', { work }, { timeout: timeoutMs })
    return true
  } catch (error) {
    // The error belongs to the other context: it is no instance of this one's `Error`.
    const isTimeout =
      typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
    if (isTimeout) return false
    throw error
  }
}
