import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'
import { SymbolFileError } from '../index-file/built-index.ts'
import { SYMBOL_KINDS } from '../files/symbol-kinds.api.ts'
import { buildIndex } from './build-index.ts'

/** Body of a thread that builds one index. */

const NICENESS = 10

const Work = z.object({ path: z.string(), kind: z.enum(SYMBOL_KINDS), object: z.number() })

// On other systems this is the priority of the whole process.
if (process.platform === 'linux') setPriority(NICENESS)
const { path, kind, object } = Work.parse(workerData)
try {
  parentPort?.postMessage({ index: buildIndex(path, kind, object) })
} catch (error) {
  if (!(error instanceof SymbolFileError)) throw error
  parentPort?.postMessage({ problem: error.message })
}
