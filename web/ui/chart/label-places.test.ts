import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fittingLabels, placeBeside, placeMarkers, shownLabels, textWidth } from './label-places.ts'

const WIDTHS = [230, 320, 700, 1920]

describe('time labels', () => {
  test('are all shown if there is room, else evenly fewer, at least both ends', () => {
    const hours = ['00:00', '04:00', '08:00', '12:00', '16:00', '20:00', '00:00']
    expect(shownLabels(hours, 700)).toEqual([true, true, true, true, true, true, true])
    expect(shownLabels(hours, 230)).toEqual([true, false, true, false, true, false, true])
    expect(shownLabels(hours, 80)).toEqual([true, false, false, false, false, false, true])
    expect(shownLabels(['now'], 10)).toEqual([true])
    expect(shownLabels([], 10)).toEqual([])
  })
})

test('time labels never collide, at any width from that of a phone on', () => {
  const texts = fc.array(fc.constantFrom('00:00', '13 Nov', '23 Nov UTC', '16:00 GMT+2'), {
    minLength: 2,
    maxLength: 12,
  })
  fc.assert(
    fc.property(texts, fc.integer({ min: 230, max: 1920 }), (labels, width) => {
      const shown = shownLabels(labels, width)
      expect(shown[0]).toBe(true)
      expect(shown.at(-1)).toBe(true)
      const places = labels.flatMap((text, index) =>
        shown[index] === true ? [{ text, at: (index / (labels.length - 1)) * width }] : [],
      )
      // The first and the last begin and end at the edges of the plot.
      for (const [index, { at, text }] of places.slice(1).entries())
        expect(at - (places[index]?.at ?? 0)).toBeGreaterThanOrEqual(textWidth(text))
    }),
  )
})

describe('labels at their positions', () => {
  const days = Array.from({ length: 7 }, (_, day) => ({ at: 0.1 + day * 0.13, text: `${day + 13} Nov` }))
  const end = { at: 1, text: 'now' }

  test('are all shown if there is room, else every n-th, always the end', () => {
    expect(fittingLabels([...days, end], 900)).toEqual([...days, end])
    expect(fittingLabels([...days, end], 300).map(({ text }) => text)).toEqual(['13 Nov', '15 Nov', '17 Nov', 'now'])
    expect(fittingLabels([end], 10)).toEqual([end])
    expect(fittingLabels([], 10)).toEqual([])
  })

  test('never collide', () =>
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 0.99, noNaN: true })),
        fc.constantFrom(...WIDTHS),
        (places, width) => {
          const labels = places.toSorted((a, b) => a - b).map((at) => ({ at, text: '13 Nov' }))
          const shown = fittingLabels([...labels, end], width)
          for (const [index, one] of shown.slice(1).entries())
            expect((one.at - (shown[index]?.at ?? 0)) * width).toBeGreaterThanOrEqual(textWidth('13 Nov'))
        },
      ),
    ))
})

describe('names of markers', () => {
  const widthOf = ({ label }: { label: string }) => textWidth(label)

  test('are after their line, or before it at the end of the chart', () => {
    const [first, last] = placeMarkers(
      [
        { at: 0.2, label: '4.12.0' },
        { at: 0.98, label: '4.13.0' },
      ],
      600,
      widthOf,
    )
    expect(first).toMatchObject({ side: 'end', roomPx: textWidth('4.12.0') })
    expect(last).toMatchObject({ side: 'start', roomPx: textWidth('4.13.0') })
  })

  test('never overlap and never leave the plot, at any width', () => {
    const markers = fc.array(
      fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), label: fc.string({ minLength: 1, maxLength: 30 }) }),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(markers, fc.constantFrom(...WIDTHS), (items, width) => {
        const boxes = placeMarkers(items, width, widthOf).map(({ item, side, roomPx }) => {
          const x = item.at * width
          return side === 'end' ? [x, x + roomPx] : [x - roomPx, x]
        })
        for (const [index, [from = 0, to = 0]] of boxes.entries()) {
          expect(from).toBeGreaterThanOrEqual(-0.001)
          expect(to).toBeLessThanOrEqual(width + 0.001)
          for (const [otherFrom = 0, otherTo = 0] of boxes.slice(index + 1))
            expect(Math.min(to, otherTo) - Math.max(from, otherFrom)).toBeLessThanOrEqual(0.001)
        }
      }),
    )
  })
})

describe('labels beside points', () => {
  test('never overlap each other or occupied places, and never leave the plot', () => {
    const point = fc.record({
      x: fc.double({ min: 0, max: 230, noNaN: true }),
      y: fc.double({ min: 0, max: 150, noNaN: true }),
      text: fc.constantFrom('99.18 %', '4.11.3 99.62 %', '1'),
    })
    const standing = [{ left: 4, top: 130, width: 120, height: 14 }]
    fc.assert(
      fc.property(fc.array(point, { maxLength: 5 }), (points) => {
        const boxes = placeBeside(points, { width: 230, height: 150 }, standing).filter((box) => box !== null)
        const all = [...standing, ...boxes]
        for (const [index, a] of all.entries()) {
          expect(a.left >= 0 && a.top >= 0 && a.left + a.width <= 230 && a.top + a.height <= 150).toBe(true)
          for (const b of all.slice(index + 1))
            expect(
              a.left + a.width <= b.left ||
                b.left + b.width <= a.left ||
                a.top + a.height <= b.top ||
                b.top + b.height <= a.top,
            ).toBe(true)
        }
      }),
    )
  })

  test('are one below the other in the room after the plot', () => {
    const points = ['P95 4.93 s', 'P75 2.04 s', 'P50 1.18 s'].map((text) => ({ x: 400, y: 70, text }))
    const boxes = placeBeside(points, { width: 400, height: 150 }, [], 90)
    expect(boxes.map((box) => [box?.left, box?.top])).toEqual([
      [409, 63],
      [409, 77],
      [409, 91],
    ])
  })
})
