import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { SentFile } from '../../platform/context/handlers.ts'

/**
 * Sends a file of a client as a download. Nothing in it may run in our origin: browsers must not guess its type, and
 * show it without scripts, frames or requests.
 */
export function sendFile(reply: FastifyReply, file: SentFile): void {
  if (file.sizeBytes !== null) void reply.header('content-length', file.sizeBytes)
  void reply
    .header('content-disposition', contentDisposition(file.filename))
    .header('content-type', file.contentType)
    .header('content-security-policy', "sandbox; default-src 'none'")
    .header('x-content-type-options', 'nosniff')
    .header('cross-origin-resource-policy', 'same-origin')
    .header('cache-control', 'private, no-store')
    .send(Readable.from(file.chunks, { objectMode: false }))
}

/** RFC 6266: a plain name for old clients, without characters that end the quotes, and the full name percent-encoded. */
export function contentDisposition(filename: string): string {
  const plain = filename.replaceAll(/[^\w.() -]/g, '_')
  const encoded = encodeURIComponent(filename.toWellFormed()).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
