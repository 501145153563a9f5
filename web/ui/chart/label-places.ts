/** Positions of labels in a chart without overlaps, in pixels of the plot. Pure. */

/** Average width of a character of `--text-2xs`, including digits and capitals. */
const CHARACTER_PX = 6.3
export const textWidth = (text: string): number => Math.ceil(text.length * CHARACTER_PX)

/** The labels under a chart that are shown: the first, then every n-th for which there is room. */
export function shownLabels(labels: readonly string[], widthPx: number): boolean[] {
  const gaps = labels.length - 1
  if (gaps <= 0) return labels.map(() => true)
  const needed = Math.max(...labels.map(textWidth)) + 12
  const fitting = Math.max(1, Math.ceil((needed * gaps) / Math.max(1, widthPx)))
  // A stride that includes the last label is preferred; without one, only the ends are shown.
  let stride = fitting
  while (stride < gaps && gaps % stride !== 0) stride++
  return labels.map((_, index) => index % Math.min(stride, gaps) === 0)
}

/** A label under the plot at its position, 0 to 1. */
export type PlacedLabel = { readonly at: number; readonly text: string }

/** Every n-th label for which there is room; the label of the end is always shown. */
export function fittingLabels(labels: readonly PlacedLabel[], widthPx: number): PlacedLabel[] {
  const needed = Math.max(0, ...labels.map(({ text }) => textWidth(text))) + 12
  const end = labels.filter(({ at }) => at === 1).slice(-1)
  const others = labels.filter(({ at }) => at < 1)
  const isClose = (a: PlacedLabel, b: PlacedLabel): boolean => Math.abs(a.at - b.at) * widthPx < needed
  let stride = 1
  const kept = () => others.filter((_, index) => index % stride === 0)
  while (stride < others.length && kept().some((one, index, all) => index > 0 && isClose(one, all[index - 1] ?? one)))
    stride++
  return [...kept().filter((one) => end.every((last) => !isClose(one, last))), ...end]
}

export type Placed<T> = { readonly item: T; readonly side: 'start' | 'end'; readonly roomPx: number }

const GAP_PX = 5
/** A shorter name is not legible. */
const MIN_LABEL_PX = 28

/**
 * Names of vertical lines in a lane above the plot: after the line, else before it, else cut, else only in the tooltip.
 * Earlier items take precedence.
 */
export function placeMarkers<T extends { readonly at: number }>(
  items: readonly T[],
  widthPx: number,
  widthOf: (item: T) => number,
): Placed<T>[] {
  const taken: [number, number][] = []
  const placed: Placed<T>[] = []
  // A name must not cross other lines either.
  const lines = items.map((item) => item.at * widthPx)
  for (const item of items) {
    const x = item.at * widthPx
    const obstacles = [...taken, ...lines.filter((line) => line !== x).map((line): [number, number] => [line, line])]
    const after = Math.min(widthPx, ...obstacles.filter(([, to]) => to >= x).map(([from]) => from)) - x - GAP_PX
    const before = x - Math.max(0, ...obstacles.filter(([from]) => from <= x).map(([, to]) => to)) - GAP_PX
    const wanted = widthOf(item)
    const side = after >= wanted || after >= before ? 'end' : 'start'
    const roomPx = Math.min(wanted, side === 'end' ? after : before)
    if (roomPx < Math.min(wanted, MIN_LABEL_PX)) continue
    taken.push(side === 'end' ? [x, x + GAP_PX + roomPx] : [x - GAP_PX - roomPx, x])
    placed.push({ item, side, roomPx })
  }
  return placed
}

export type Box = { readonly left: number; readonly top: number; readonly width: number; readonly height: number }

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height

/** Height of a label. */
export const LINE_PX = 14

/**
 * A free position for the label of each point: above, below, before or after it. Null if there is none.
 * @param lanePx room after the plot: labels are placed there, one below the other
 */
export function placeBeside(
  points: readonly { readonly x: number; readonly y: number; readonly text: string }[],
  field: { readonly width: number; readonly height: number },
  standing: readonly Box[],
  lanePx = 0,
): (Box | null)[] {
  const taken = [...standing, ...points.map(({ x, y }): Box => ({ left: x - 5, top: y - 5, width: 10, height: 10 }))]
  return points.map(({ x, y, text }) => {
    const width = textWidth(text) + 6
    const inLane = [0, 1, 2, -1, -2].map((step): [number, number] => [x + 9, y - LINE_PX / 2 + step * LINE_PX])
    const places: [left: number, top: number][] = [
      ...(lanePx > 0 ? inLane : []),
      [x + 9, y - LINE_PX / 2],
      [x - width - 9, y - LINE_PX - 4],
      [x - width - 9, y + 4],
      [x - width / 2, y - LINE_PX - 8],
      [x - width / 2, y + 8],
      [x - width - 9, y - LINE_PX / 2],
    ]
    const box = places
      .map(([left, top]): Box => ({ left, top, width, height: LINE_PX }))
      .find(
        (one) =>
          one.left >= 0 &&
          one.left + one.width <= field.width + lanePx &&
          one.top >= 0 &&
          one.top + one.height <= field.height &&
          !taken.some((other) => overlap(one, other)),
      )
    if (box !== undefined) taken.push(box)
    return box ?? null
  })
}
