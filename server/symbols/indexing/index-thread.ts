import { parentPort } from 'node:worker_threads'
import { SymbolFileError } from '../index-file/built-index.ts'
import { packIndex } from '../index-file/packed-index.ts'
import { buildIndex } from './build-index.ts'
import { type IndexReply, IndexWork } from './index-work.ts'

/** Body of the thread that builds indexes, one after the other. */

parentPort?.on('message', (message: unknown) => parentPort?.postMessage(answer(IndexWork.parse(message))))

function answer({ path, kind, object }: IndexWork): IndexReply {
  try {
    return { packed: packIndex(`${path}.index`, (addPart) => buildIndex(path, kind, object, addPart)) }
  } catch (error) {
    if (error instanceof SymbolFileError) return { problem: error.message }
    return { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
