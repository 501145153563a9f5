import type { Event } from '../../events/protocol/event.api.ts'
import { baseName } from './v2-common-names.ts'

/**
 * Places in images, for frames without a name, for grouping version 3: the build of the image and the offset in it, which
 * are the same wherever the image is loaded. Frozen with `v3.ts`: never changed once issues depend on it.
 */

type Frame = NonNullable<Event['exceptions'][number]['stacktrace']>['frames'][number]
type Image = { readonly start: bigint | null; readonly end: bigint | null; readonly id: string; readonly file: string }

/** The place of a frame; null where it is not known. */
export type Places = (frame: Frame, symbol: string | null) => string | null

/** The images are read at the first frame that asks. */
export function placesIn(images: Event['debug_images']): Places {
  let known: Image[] | null = null
  return (frame, symbol) => placeOf(frame, symbol, (known ??= readImages(images)))
}

function placeOf(frame: Frame, symbol: string | null, images: readonly Image[]): string | null {
  const { instruction_addr: text, image_addr: base, package: file } = frame
  if (text !== null && ADDRESS.test(text)) {
    const address = BigInt(text)
    const around = images.findLast(
      ({ start, end }) => start !== null && start <= address && (end === null || address < end),
    )
    // An image of unknown size ends where the frame says that another one begins.
    if (around?.start != null && (around.end !== null || base === null || BigInt(base) === around.start))
      return placed(around.id, address - around.start)
    if (base !== null && ADDRESS.test(base) && BigInt(base) <= address) {
      const start = BigInt(base)
      const id = images.find((image) => image.start === start)?.id ?? (file === null ? null : baseName(file))
      return id === null ? null : placed(id, address - start)
    }
    // Addresses of WebAssembly are relative.
    const own = file === null ? undefined : images.find((image) => image.file === file)
    if (own !== undefined && own.start === null) return placed(own.id, address)
  }
  // The frame says its place in words: `_mh_execute_header + 4096`.
  const offset = symbol === null ? null : OFFSET.exec(symbol)
  if (offset === null || file === null) return null
  const id = images.find((image) => image.file === file)?.id ?? baseName(file)
  const [, name = '', distance = '0'] = offset
  return `${placed(id, BigInt(distance))} of ${name.trim().toLowerCase()}`
}

const ADDRESS = /^0x[0-9a-f]{1,16}$/
const OFFSET = /^(.{0,200}?) ?\+ ?(0x[0-9a-f]{1,16}|\d{1,18})$/i

const placed = (id: string, offset: bigint): string => `${id}+0x${offset.toString(16)}`

function readImages(images: Event['debug_images']): Image[] {
  return images
    .flatMap((image): Image[] => {
      const { image_addr: addr, image_size: size, debug_id: debugId, code_id: codeId } = image
      const file = image['code_file'] ?? image['name'] ?? image['debug_file']
      const name = typeof file === 'string' ? file : ''
      const id = idOf(debugId) ?? codeOf(codeId) ?? (name === '' ? null : baseName(name))
      if (id === null) return []
      const start = typeof addr === 'string' && ADDRESS.test(addr) ? BigInt(addr) : null
      const length = sizeOf(size)
      return [{ start, end: start === null || length === null ? null : start + length, id, file: name }]
    })
    .toSorted((a, b) => Number((a.start ?? 0n) > (b.start ?? 0n)) - Number((a.start ?? 0n) < (b.start ?? 0n)))
}

function sizeOf(size: unknown): bigint | null {
  const isKnown =
    typeof size === 'number'
      ? Number.isSafeInteger(size) && size > 0
      : typeof size === 'string' && /^(?:0x[0-9a-f]{1,16}|[1-9]\d{0,18})$/i.test(size)
  return isKnown && (typeof size === 'number' || typeof size === 'string') ? BigInt(size) : null
}

/** A debug id without dashes and without the age that some append. */
function idOf(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const digits = value.replaceAll('-', '').toLowerCase()
  return /^[0-9a-f]{32,40}$/.test(digits) && !/^0{32}/.test(digits) ? digits.slice(0, 32) : null
}

const codeOf = (value: unknown): string | null =>
  typeof value === 'string' && /[1-9a-f]/i.test(value) ? value.toLowerCase().slice(0, 80) : null

// --- Stacks that are a text ---------------------------------------------------------------------------------------

/** Places of a text that count: the innermost ones. */
const MOST = 5
const NATIVE_LINE =
  /^\s{0,20}#\d{1,3} {1,4}(?:abs [0-9a-f]{4,16} virt ([0-9a-f]{4,16})|pc (?:0x)?([0-9a-f]{4,16}) {1,8}(\S{1,300}))/gm
const BUILD = /\bbuild_?id: ?'?([0-9a-f]{8,64})/i
/** Where the stack begins in the text of an obfuscated app. */
const BEGINS = /^(?:\*{3} ){3}|^\s{0,20}#0{1,3} {1,4}(?:abs|pc) /m

/** The words of a text before the stack in it, and the places of that stack; null for a text without one. */
export function stackInText(text: string): { words: string; places: string[] } | null {
  if (!/ (?:virt|pc) /.test(text)) return null
  const build = BUILD.exec(text)?.[1]?.toLowerCase() ?? ''
  const places: string[] = []
  for (const [, virt, pc, file = ''] of text.matchAll(NATIVE_LINE)) {
    const offset = (virt ?? pc ?? '').replace(/^0+(?=.)/, '').toLowerCase()
    places.push(`${virt === undefined ? baseName(file) : build}+0x${offset}`)
    if (places.length === MOST) break
  }
  const begins = BEGINS.exec(text)
  return places.length === 0 ? null : { words: text.slice(0, begins?.index ?? 0).trim(), places }
}
