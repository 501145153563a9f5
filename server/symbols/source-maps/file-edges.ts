import { open } from 'node:fs/promises'

/** Tools write debug ids, and comments about maps, at the beginning or the end of a file. */
const EDGE_BYTES = 64 * 1024

/** The first and the last 64 KiB of a file; the whole of a short one. */
export async function readEdges(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const head = Buffer.alloc(Math.min(size, EDGE_BYTES))
    await file.read(head, 0, head.length, 0)
    const tail = Buffer.alloc(Math.min(size - head.length, EDGE_BYTES))
    await file.read(tail, 0, tail.length, size - tail.length)
    return Buffer.concat([head, tail])
  } finally {
    await file.close()
  }
}

/** As tools write it. The whole map is parsed only when it is indexed: that takes long for a large one. */
const DEBUG_ID = /"debug_?[iI]d"\s*:\s*"([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})"/iu

/** @returns the debug id that the edges of a source map have, in lower case; null without one */
export const debugIdInEdges = (edges: Buffer): string | null =>
  DEBUG_ID.exec(edges.toString('latin1'))?.[1]?.toLowerCase() ?? null
