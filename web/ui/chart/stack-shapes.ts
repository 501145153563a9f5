import { area } from 'd3-shape'

/** Geometry of stacked shares on a plot of 1000 × 100. Pure. */

type Shares = readonly (number | null)[]
type Corner = { readonly x: number; readonly below: number; readonly above: number } | null

/** The lower and upper edge of a layer in each bucket. */
function boundsOf(layers: readonly Shares[], layer: number, index: number): [number, number] {
  let below = 0
  for (const shares of layers.slice(0, layer)) below += shares[index] ?? 0
  return [below, below + (layers[layer]?.[index] ?? 0)]
}

/** One path per layer, empty for a layer without values. Unknown buckets are gaps. */
export function stackPaths(layers: readonly Shares[]): string[] {
  const length = Math.max(0, ...layers.map((layer) => layer.length))
  const known = Array.from({ length }, (_, index) => layers.some((layer) => (layer[index] ?? null) !== null))
  const draw = area<Corner>()
    .defined((corner) => corner !== null)
    .x((corner) => (corner?.x ?? 0) * 1000)
    .y0((corner) => 100 - (corner?.below ?? 0) * 100)
    .y1((corner) => 100 - (corner?.above ?? 0) * 100)
    .digits(2)
  return layers.map((shares, layer) => {
    if (shares.every((share) => (share ?? 0) === 0)) return ''
    const corners = known.flatMap((isKnown, index): Corner[] => {
      if (!isKnown) return [null]
      const [below, above] = boundsOf(layers, layer, index)
      const corner = (x: number): Corner => ({ x: x / length, below, above })
      // The ends of a run reach the edges of their buckets; the middles between them are joined.
      return [
        ...(known[index - 1] === true ? [] : [corner(index)]),
        corner(index + 0.5),
        ...(known[index + 1] === true ? [] : [corner(index + 1)]),
      ]
    })
    return draw(corners) ?? ''
  })
}

/** A thinner layer has no room for its name. */
const MIN_SHARE = 0.1

export type LayerPlace = { readonly x: number; readonly y: number; readonly wide: number; readonly high: number }

/** The middle and size of the widest part where a layer is thick enough for its name. */
export function layerPlace(layers: readonly Shares[], layer: number): LayerPlace | null {
  const shares = layers[layer] ?? []
  const { length } = shares
  let best: [number, number] | null = null
  let start: number | null = null
  for (let index = 0; index <= length; index++) {
    const isThick = index < length && (shares[index] ?? 0) >= MIN_SHARE
    if (isThick) start ??= index
    else if (start !== null) {
      if (best === null || index - start > best[1] - best[0]) best = [start, index]
      start = null
    }
  }
  if (best === null) return null
  const middle = Math.floor((best[0] + best[1] - 1) / 2)
  const [below, above] = boundsOf(layers, layer, middle)
  return { x: (middle + 0.5) / length, y: (below + above) / 2, wide: (best[1] - best[0]) / length, high: above - below }
}
