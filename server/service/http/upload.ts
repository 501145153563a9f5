import type { IncomingMessage } from 'node:http'
import type { Upload } from '../../platform/context/handlers.ts'
import { AppError, invalid, tooLarge, unavailable } from '../../platform/kernel/errors.ts'
import { limitBodyTime } from './body-time.ts'

/** As long as the server waits for any request. A client that sends nothing is disconnected before. */
const UPLOAD_TIMEOUT_MS = 600_000
/** Uploads of a process at a time. Each holds a few MiB: a piece, compressed, and as the database receives it. */
const MAX_UPLOADS = 20
/** The share of one owner, so that slow uploads of one organisation leave room for those of others. */
export const MAX_UPLOADS_PER_OWNER = 5

export type Uploads = {
  /**
   * Runs a handler that reads the body of a request as a file.
   * @param owner an organisation, or the address of a caller without one
   * @throws AppError too_large, by the announced length; invalid; unavailable while too many are received, of the owner or
   *   of all
   */
  receive<T>(
    owner: string,
    request: IncomingMessage,
    maxBytes: number,
    handle: (upload: Upload) => Promise<T>,
  ): Promise<T>
}

export function createUploads(): Uploads {
  let running = 0
  const byOwner = new Map<string, number>()
  return {
    async receive(owner, request, maxBytes, handle) {
      if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw fileTooLarge(maxBytes)
      if (request.headers['content-encoding'] !== undefined) throw invalid('Send the file without a Content-Encoding.')
      const own = byOwner.get(owner) ?? 0
      if (running >= MAX_UPLOADS || own >= MAX_UPLOADS_PER_OWNER)
        throw unavailable('Too many uploads at once. Try again in a few seconds.', 5)
      running++
      byOwner.set(owner, own + 1)
      limitBodyTime(request, UPLOAD_TIMEOUT_MS)
      try {
        return await handle({
          contentType: request.headers['content-type'] ?? null,
          content: bytesOf(request, maxBytes),
        })
      } finally {
        running--
        const left = (byOwner.get(owner) ?? 1) - 1
        if (left === 0) byOwner.delete(owner)
        else byOwner.set(owner, left)
      }
    },
  }
}

/** The connection stays open for the answer when the handler stops reading. */
async function* bytesOf(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0
  try {
    const parts: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false })
    for await (const part of parts) {
      bytes += part.length
      if (bytes > maxBytes) throw fileTooLarge(maxBytes)
      yield part
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw invalid('The file did not arrive completely.')
  }
}

const fileTooLarge = (maxBytes: number): AppError =>
  tooLarge(`A file may have at most ${maxBytes.toLocaleString('en')} bytes.`)
