/** Where the words of a chart stand so that none lies on another. Pure; in pixels of the field. */

/** Width of a character of `--text-2xs` on average, with digits and capitals counted in. */
const CHARACTER_PX = 6.3
export const textWidth = (text: string): number => Math.ceil(text.length * CHARACTER_PX)

/** Which labels under a chart are shown: the first, and from there every n-th for which there is room. */
export function shownLabels(labels: readonly string[], widthPx: number): boolean[] {
  const gaps = labels.length - 1
  if (gaps <= 0) return labels.map(() => true)
  const needed = Math.max(...labels.map(textWidth)) + 12
  const fitting = Math.max(1, Math.ceil((needed * gaps) / Math.max(1, widthPx)))
  // A stride that meets the last label keeps both ends; where none does, the ends alone are named.
  let stride = fitting
  while (stride < gaps && gaps % stride !== 0) stride++
  return labels.map((_, index) => index % Math.min(stride, gaps) === 0)
}

export type Placed<T> = { readonly item: T; readonly side: 'start' | 'end'; readonly roomPx: number }

const GAP_PX = 5
/** A name cut to less says nothing. */
const MIN_LABEL_PX = 28

/**
 * Names of vertical lines, in one lane above the field: after the line where there is room, else before it, else cut,
 * else left to the reading under the pointer. Earlier items go first.
 */
export function placeMarkers<T extends { readonly at: number }>(
  items: readonly T[],
  widthPx: number,
  widthOf: (item: T) => number,
): Placed<T>[] {
  const taken: [number, number][] = []
  const placed: Placed<T>[] = []
  // Other lines may be crossed by a name no more than other names.
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

/** Height of a line of words in a chart. */
export const LINE_PX = 14

/**
 * A place beside each point for its words: above, below, before or after it, inside the field and off everything that
 * stands there already. Null where there is none.
 */
export function placeBeside(
  points: readonly { readonly x: number; readonly y: number; readonly text: string }[],
  field: { readonly width: number; readonly height: number },
  standing: readonly Box[],
): (Box | null)[] {
  const taken = [...standing, ...points.map(({ x, y }): Box => ({ left: x - 5, top: y - 5, width: 10, height: 10 }))]
  return points.map(({ x, y, text }) => {
    const width = textWidth(text) + 6
    const places: [left: number, top: number][] = [
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
          one.left + one.width <= field.width &&
          one.top >= 0 &&
          one.top + one.height <= field.height &&
          !taken.some((other) => overlap(one, other)),
      )
    if (box !== undefined) taken.push(box)
    return box ?? null
  })
}
