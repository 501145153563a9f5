import { addressField } from './fields.ts'
import { cleanRecord, isList, isRecord, type JsonBudget, type JsonRecord } from './json.ts'
import type { Notes } from './notes.ts'

/** Debug images of an event, and the image of an address. */

const MAX_IMAGES = 2_000

export type ImageRange = { start: number; end: number; package: string; imageAddr: string }

/** `debug_meta.images`, cleaned, with addresses as lower-case hexadecimal text and old `uuid` of Mach-O as `debug_id`. */
export function readImages(debugMeta: unknown, budget: JsonBudget, notes: Notes): JsonRecord[] {
  if (debugMeta === null || debugMeta === undefined) return []
  const list = isRecord(debugMeta) ? debugMeta['images'] : undefined
  if (list === null || list === undefined) return []
  if (!isList(list)) {
    notes.add('debug_meta.images', 'Expected a list.')
    return []
  }
  if (list.length > MAX_IMAGES)
    notes.add('debug_meta.images', `${list.length} images; the first ${MAX_IMAGES} are kept.`)
  const images: JsonRecord[] = []
  for (const raw of list.slice(0, MAX_IMAGES)) {
    if (raw === null) continue
    const image = cleanRecord(raw, budget, notes, 'debug_meta.images')
    if (image !== null) images.push(withAddressText(image, notes))
  }
  return images
}

function withAddressText(image: JsonRecord, notes: Notes): JsonRecord {
  const needsDebugId = image['debug_id'] === undefined && typeof image['uuid'] === 'string' && isMachO(image['type'])
  const addr = image['image_addr']
  const normalised = addressField(addr, notes, 'debug_meta.images.image_addr')
  if (!needsDebugId && (addr === undefined || normalised === addr)) return image
  const copy: JsonRecord = { ...image }
  if (addr !== undefined) copy['image_addr'] = normalised
  if (needsDebugId) copy['debug_id'] = image['uuid'] ?? null
  return copy
}

function isMachO(type: unknown): boolean {
  return type === 'macho' || type === 'apple' || type === 'symbolic'
}

/**
 * The images that occupy memory, by address. Above 2^53 an address loses its last bits, which is exact enough for an
 * image.
 */
export function imageRanges(images: readonly JsonRecord[]): ImageRange[] {
  const ranges: ImageRange[] = []
  for (const image of images) {
    const imageAddr = image['image_addr']
    const size = image['image_size']
    const file = image['code_file'] ?? image['name']
    if (typeof imageAddr !== 'string' || typeof file !== 'string' || file === '') continue
    const start = Number(imageAddr)
    if (!Number.isFinite(start)) continue
    const length = typeof size === 'number' && size > 0 ? size : 0
    ranges.push({ start, end: start + length, package: file, imageAddr })
  }
  return ranges.toSorted((a, b) => a.start - b.start)
}

/** The image of an absolute address; an image of unknown size ends at the next one. */
export function imageAt(ranges: readonly ImageRange[], address: string): ImageRange | null {
  const at = Number(address)
  let low = 0
  let high = ranges.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const range = ranges[middle]
    if (range === undefined) return null
    if (range.start <= at) low = middle + 1
    else high = middle - 1
  }
  const found = ranges[high]
  if (found === undefined) return null
  return found.end === found.start || at < found.end ? found : null
}
