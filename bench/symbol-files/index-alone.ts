import { readFileSync } from 'node:fs'
import { SYMBOL_KINDS } from '#server/symbols/files/symbol-kinds.api.ts'
import { packIndex } from '#server/symbols/index-file/packed-index.ts'
import { buildIndex } from '#server/symbols/indexing/build-index.ts'

/** Builds the index of a file in a process of its own, and prints what it took: `node index-alone.ts <file> <kind>`. */

const [path = '', wanted] = process.argv.slice(2)
const kind = SYMBOL_KINDS.find((one) => one === wanted)
if (kind === undefined) throw new Error(`There is no kind of file "${wanted}".`)
const before = process.resourceUsage()
const startedMs = performance.now()
packIndex(`${path}.index`, (addPart) => buildIndex(path, kind, 0, addPart))
const wallMs = performance.now() - startedMs
const { userCPUTime, systemCPUTime } = process.resourceUsage()
process.stdout.write(
  JSON.stringify({
    wallMs,
    cpuMs: (userCPUTime + systemCPUTime - before.userCPUTime - before.systemCPUTime) / 1000,
    memoryMiB: maxMemoryMiB(),
  }),
)

/** `maxRSS` would count the memory of the process that started this one. */
function maxMemoryMiB(): number {
  const kib = /VmHWM:\s*(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  return Number(kib ?? 0) / 1024
}
