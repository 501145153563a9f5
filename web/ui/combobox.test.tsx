import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, test } from 'vitest'
import { stepped, useCombobox } from './combobox.ts'

describe('a step', () => {
  test.each([
    [0, 1, 3, 1],
    [2, 1, 3, 0],
    [0, -1, 3, 2],
    [0, 1, 0, 0],
    [4, 1, null, 5],
    [0, -1, null, 0],
    [-1, 1, 3, 0],
    [-1, -1, 3, 2],
  ])('from %i by %i among %s leads to %i', (at, step, count, to) => expect(stepped(at, step, count)).toBe(to))
})

function Picker({ options }: { options: readonly string[] | null }) {
  const { input, list, option } = useCombobox({
    options,
    onChoose: () => undefined,
    text: 'a',
    onText: () => undefined,
  })
  return (
    <>
      <input {...input} aria-label="Find" />
      <div {...list} aria-label="Found">
        {(options ?? []).map((name, index) => (
          <div key={name} {...option(index)}>
            {name}
          </div>
        ))}
      </div>
    </>
  )
}

test('the input refers to its list and to the option that Enter chooses', () => {
  const html = renderToStaticMarkup(<Picker options={['Ada', 'Alan']} />)
  const listId = /role="listbox" id="([^"]+)"/.exec(html)?.[1]
  expect(html).toContain(`aria-controls="${listId}"`)
  expect(html).toContain(`aria-activedescendant="${listId}-0"`)
  expect(html).toContain(`id="${listId}-0" role="option" aria-selected="true"`)
  expect(html).toContain(`id="${listId}-1" role="option" aria-selected="false"`)
})

test('the input refers to no option while options load, or if there are none', () => {
  expect(renderToStaticMarkup(<Picker options={null} />)).toContain('aria-busy="true"')
  expect(renderToStaticMarkup(<Picker options={[]} />)).not.toContain('aria-activedescendant')
})
