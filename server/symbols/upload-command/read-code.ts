import { basename, dirname, join } from 'node:path'
import { readDebugId, readSourceMapUrl } from '../source-maps/debug-id.ts'
import { readEdges } from '../source-maps/file-edges.ts'

/** Generated code beside source maps. */
export type Code = {
  readonly path: string
  /** By which events name the code. */
  readonly debugId: string | null
  /** Where its map may be, the best first. */
  readonly mapPaths: readonly string[]
  /** Whether the map is in the code, as a `data:` URL. */
  readonly hasMapInside: boolean
}

export async function readCode(path: string): Promise<Code> {
  const edges = await readEdges(path)
  const url = readSourceMapUrl(edges)
  const hasMapInside = url?.startsWith('data:') === true
  const named = url === null || hasMapInside ? [] : [placeOf(path, url)]
  return { path, debugId: readDebugId(edges), mapPaths: [...named, `${path}.map`], hasMapInside }
}

/** An address on a server gives only a name: the map is where the build wrote it. */
function placeOf(path: string, url: string): string {
  const local = url.replace(/[?#].*$/su, '')
  const name = /^(?:[a-z][a-z0-9+.-]*:|\/)/iu.test(local) ? basename(local) : local
  return join(dirname(path), decoded(name))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
