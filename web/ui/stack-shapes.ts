/** Geometry of stacked shares, on a field 1000 wide and 100 high. Pure. */

type Shares = readonly (number | null)[]

const WIDTH = 1000
const round = (value: number): number => Math.round(value * 100) / 100

/** Runs of buckets in which something is known, as [first, last]. */
export function runsOf(layers: readonly Shares[]): [number, number][] {
  const length = Math.max(0, ...layers.map((layer) => layer.length))
  const runs: [number, number][] = []
  for (let index = 0; index < length; index++) {
    if (!layers.some((layer) => (layer[index] ?? null) !== null)) continue
    const open = runs.at(-1)
    if (open !== undefined && open[1] === index - 1) open[1] = index
    else runs.push([index, index])
  }
  return runs
}

/** How far below the layers before reach, and how far with this one. */
function boundsOf(layers: readonly Shares[], layer: number, index: number): [number, number] {
  let below = 0
  for (const shares of layers.slice(0, layer)) below += shares[index] ?? 0
  return [below, below + (layers[layer]?.[index] ?? 0)]
}

/** One closed path per layer; a layer that is nothing anywhere has an empty one. */
export function stackPaths(layers: readonly Shares[]): string[] {
  const length = Math.max(0, ...layers.map((layer) => layer.length))
  const runs = runsOf(layers)
  return layers.map((shares, layer) => {
    if (shares.every((share) => (share ?? 0) === 0)) return ''
    return runs
      .map(([first, last]) => {
        // Ends of a run reach the edges of their buckets, between them the middles are joined.
        const xs = [first / length, ...middles(first, last, length), (last + 1) / length]
        const at = [first, ...indexes(first, last), last]
        const top = xs.map((x, place) => point(x, boundsOf(layers, layer, at[place] ?? first)[1]))
        const bottom = xs.map((x, place) => point(x, boundsOf(layers, layer, at[place] ?? first)[0]))
        return `M${[...top, ...bottom.reverse()].join('L')}z`
      })
      .join('')
  })
}

const indexes = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, place) => first + place)
const middles = (first: number, last: number, length: number): number[] =>
  indexes(first, last).map((index) => (index + 0.5) / length)
const point = (x: number, share: number): string => `${round(x * WIDTH)} ${round(100 - share * 100)}`

/** A label needs so much of the height, and about so much of the width per character. */
const LEAST_SHARE = 0.12
const WIDTH_PER_CHARACTER = 0.013

/** Where the name of a layer fits: the middle of the widest stretch in which it is thick enough; null where nowhere. */
export function labelPlace(
  layers: readonly Shares[],
  layer: number,
  characters: number,
): { x: number; y: number } | null {
  const shares = layers[layer] ?? []
  const { length } = shares
  let best: [number, number] | null = null
  let start: number | null = null
  for (let index = 0; index <= length; index++) {
    const thick = index < length && (shares[index] ?? 0) >= LEAST_SHARE
    if (thick) start ??= index
    else if (start !== null) {
      if (best === null || index - start > best[1] - best[0]) best = [start, index]
      start = null
    }
  }
  const needed = (characters + 2) * WIDTH_PER_CHARACTER
  if (best === null || (best[1] - best[0]) / length < needed) return null
  const middle = Math.floor((best[0] + best[1] - 1) / 2)
  const [from, to] = boundsOf(layers, layer, middle)
  return { x: (middle + 0.5) / length, y: (from + to) / 2 }
}
