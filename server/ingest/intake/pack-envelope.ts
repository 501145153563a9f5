import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import type { ContentEncoding } from '../../platform/kernel/inflate.ts'
import { tooLarge } from '../../platform/kernel/errors.ts'
import { compressZstd } from '../../platform/kernel/zstd-encoder.ts'
import { MAX_DECODED_BYTES } from '../../events/protocol/decode.ts'

/** Smaller bodies are not compressed. */
const MIN_BYTES = 512
/** Up to this size compression takes less than a millisecond. */
const SYNC_BYTES = 128 * 1024
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const compress = promisify(zstdCompress)

/**
 * Compresses an envelope that intake built, for the spool.
 * @throws AppError `too_large` when digestion could not decode it again
 */
export async function packEnvelope(envelope: Buffer): Promise<{ body: Buffer; encoding: ContentEncoding }> {
  if (envelope.length > MAX_DECODED_BYTES)
    throw tooLarge(`The request holds more than ${MAX_DECODED_BYTES / 1024 / 1024} MiB.`)
  if (envelope.length < MIN_BYTES) return { body: envelope, encoding: 'none' }
  const body = envelope.length <= SYNC_BYTES ? compressZstd(envelope) : await compress(envelope, OPTIONS)
  // Digestion rejects a ratio above 100:1 as a decompression bomb.
  return body.length * 50 < envelope.length ? { body: envelope, encoding: 'none' } : { body, encoding: 'zstd' }
}
