import { crc32, deflateRawSync } from 'node:zlib'

/** An entry of an archive, with what is written in place of the truth. */
export type ZipEntry = {
  readonly name: string
  readonly content: string | Buffer
  /** The name in the header before the content. */
  readonly localName?: string
  readonly crc?: number
  /** The size after decompression. */
  readonly size?: number
  readonly flags?: number
  /** The mode of Unix. */
  readonly mode?: number
  /** The number of another entry, whose content this one points to. */
  readonly at?: number
}

/** A zip archive of files by their names (APPNOTE of the format, sections 4.3.7 to 4.3.16). */
export const zipOf = (files: Readonly<Record<string, string | Buffer>>): Buffer =>
  zipOfEntries(Object.entries(files).map(([name, content]) => ({ name, content })))

/** A zip archive of entries, whose headers may say what is not so. */
export function zipOfEntries(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  const offsets: number[] = []
  let offset = 0
  for (const { name, content, localName = name, crc, size, flags = 0, mode = 0, at } of entries) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes)
    const header = (path: Buffer): Buffer => {
      const shared = Buffer.alloc(26)
      shared.writeUInt16LE(20, 0)
      shared.writeUInt16LE(flags, 2)
      shared.writeUInt16LE(8, 4)
      shared.writeUInt32LE(crc ?? crc32(bytes), 10)
      shared.writeUInt32LE(packed.length, 14)
      shared.writeUInt32LE(size ?? bytes.length, 18)
      shared.writeUInt16LE(path.length, 22)
      return shared
    }
    const own = Buffer.from(localName)
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004', 'latin1'), header(own), own, packed])
    const path = Buffer.from(name)
    const entry = Buffer.alloc(14)
    entry.writeUInt32LE((mode << 16) >>> 0, 6)
    entry.writeUInt32LE(at === undefined ? offset : (offsets[at] ?? 0), 10)
    directory.push(
      Buffer.concat([Buffer.from('PK\u0001\u0002', 'latin1'), Buffer.from([20, 3]), header(path), entry, path]),
    )
    offsets.push(offset)
    if (at !== undefined) continue
    locals.push(local)
    offset += local.length
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(Math.min(directory.length, 0xffff), 4)
  end.writeUInt16LE(Math.min(directory.length, 0xffff), 6)
  end.writeUInt32LE(size, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...locals, ...directory, Buffer.from('PK\u0005\u0006', 'latin1'), end])
}

/** A bundle with one source map that has a debug id, as upload tools make it. */
export function sourceMapBundle(debugId = '0198f111-0000-4000-8000-000000000000'): Buffer {
  const map = { version: 3, sources: ['a.ts'], names: [], mappings: 'AAAA', sourcesContent: ['export const a = 1\n'] }
  const manifest = {
    files: {
      'files/_/_/a.js.map': { type: 'source_map', url: '~/a.js.map', headers: { 'debug-id': debugId } },
    },
  }
  const zip = zipOf({ 'manifest.json': JSON.stringify(manifest), 'files/_/_/a.js.map': JSON.stringify(map) })
  return Buffer.concat([Buffer.from('SYSB', 'latin1'), Buffer.from([2, 0, 0, 0]), zip])
}
