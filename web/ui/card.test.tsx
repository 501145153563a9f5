import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Card } from './card.tsx'
import { Table } from './table.tsx'

test('a card is named after its title', () => {
  const html = renderToStaticMarkup(<Card title="Commits" />)
  const [, id] = /aria-labelledby="([^"]+)"/.exec(html) ?? []
  expect(html).toContain(`<h2 id="${id}">Commits</h2>`)
})

test('a heading with an id of its own can take the focus', () => {
  const html = renderToStaticMarkup(<Card title="Stack trace" titleId="trace" />)
  expect(html).toContain('aria-labelledby="trace"')
  expect(html).toContain('<h2 id="trace" tabindex="-1">')
})

test('a card without a title has neither header nor name', () => {
  const html = renderToStaticMarkup(<Card as="div">3 events</Card>)
  expect(html).toMatch(/^<div class="[^"]+">3 events<\/div>$/)
})

test('a table that scrolls is a named region that takes the focus', () => {
  const html = renderToStaticMarkup(
    <Table scrollLabel="Releases">
      <tbody />
    </Table>,
  )
  expect(html).toContain('role="region" aria-label="Releases" tabindex="0"')
})
