import { crc32, deflateRawSync } from 'node:zlib'

/** A zip archive of files by their names (APPNOTE of the format, sections 4.3.7 to 4.3.16). */
export function zipOf(files: Readonly<Record<string, string | Buffer>>): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes)
    const path = Buffer.from(name)
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0)
    shared.writeUInt16LE(8, 4)
    shared.writeUInt32LE(crc32(bytes), 10)
    shared.writeUInt32LE(packed.length, 14)
    shared.writeUInt32LE(bytes.length, 18)
    shared.writeUInt16LE(path.length, 22)
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004', 'latin1'), shared, path, packed])
    const entry = Buffer.alloc(14)
    entry.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002', 'latin1'), Buffer.from([20, 0]), shared, entry, path]))
    locals.push(local)
    offset += local.length
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(directory.length, 4)
  end.writeUInt16LE(directory.length, 6)
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
