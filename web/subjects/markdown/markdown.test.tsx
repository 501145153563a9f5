import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Markdown } from './markdown.tsx'

const html = (text: string): string => renderToStaticMarkup(<Markdown text={text} />)

test('the Markdown of comments is rendered', () => {
  expect(html('**Mine.** Posting through `viewLifecycleOwner` *fixes* it\nlocally.')).toContain(
    '<p><strong>Mine.</strong> Posting through <code>viewLifecycleOwner</code> <em>fixes</em> it<br/>locally.</p>',
  )
  expect(html('1. one\n2. two')).toContain('<ol start="1"><li><p>one</p></li>')
  expect(html('# Title')).not.toContain('<h1')
})

test('addresses are links, with or without markup', () => {
  const link = '<a href="https://shop.example/a" rel="noopener noreferrer nofollow" target="_blank">'
  const plain = (text: string) => html(text).replaceAll(/ class="[^"]*"/g, '')
  expect(plain('see https://shop.example/a.')).toContain(`${link}https://shop.example/a</a>.`)
  expect(plain('[here](https://shop.example/a)')).toContain(`${link}here</a>`)
})

test.each([
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  'text <b onclick="x()">bold</b>',
  '[a](javascript:alert(1))',
  '[a](data:text/html;base64,PHNjcmlwdD4=)',
  '![a](https://evil.example/pixel.gif)',
  '<https://evil.example" onmouseover="x>',
])('nothing that was typed becomes markup: %s', (text) => {
  const drawn = html(text)
  expect(drawn).not.toMatch(/<(?:script|img|b|iframe)\b/i)
  expect(drawn).not.toMatch(/href="(?:javascript|data):/i)
  expect(drawn).not.toMatch(/<[^>]+\son\w+=/i)
})

test('a link contains no other link', () => {
  expect(html('[see https://good.example/a](https://shop.example/b)').match(/<a /g)).toHaveLength(1)
  const nested = renderToStaticMarkup(
    <Markdown
      text="[@Ada](https://shop.example/b)"
      mentions={[{ text: '@Ada', user: { id: 'a', name: 'Ada', email: 'a@x.example' } }]}
    />,
  )
  expect(nested.match(/<a /g)).toHaveLength(1)
})

test.each([
  '>',
  '> ',
  '1. ',
  '- ',
  '*a ',
  'a**b',
  '[',
  '[](',
  '![',
  '[a]: b\n',
  '&#x41;',
  '<a ',
  '`',
  '- - - > 1. ',
  '=\n',
  'a\n=\n',
  `${'- '.repeat(19)}a\n`,
  `${'>'.repeat(19)} a\n`,
])('ten thousand characters of %j stop no page', (piece) => {
  const text = piece.repeat(Math.ceil(10_000 / piece.length)).slice(0, 10_000)
  const started = performance.now()
  html(text)
  html(`${text}${'b*'.repeat(200)}`)
  expect(performance.now() - started).toBeLessThan(2_000)
})

test('a long list and a long quote are rendered', () => {
  expect(html(Array.from({ length: 400 }, (_, i) => `${i + 1}. step ${i}`).join('\n')).match(/<li>/g)).toHaveLength(400)
  expect(html('> said\n'.repeat(1_000))).toContain('<blockquote>')
})

test('long code stays code, and a long line stays a line', () => {
  expect(html(`*a*\n\n${'-'.repeat(80)}\n\nb`)).toContain('<em>a</em></p><hr/>')
  expect(html(`\`\`\`\n${'a[0] *b* &c;\n'.repeat(500)}\`\`\``)).toContain('<pre')
})

test.each([
  '[a](JaVaScRiPt:alert(1))',
  '[a](&#106;avascript:alert(1))',
  '[a](java\tscript:alert(1))',
  '[a]( javascript:alert(1))',
  '[a](<javascript:alert(1)>)',
  '[a](vbscript:x)',
  '[a](file:///etc/passwd)',
  '[a](//evil.example)',
  '<javascript:alert(1)>',
  '<data:text/html,x>',
  '[a][x]\n\n[x]: javascript:alert(1)',
  '![x](javascript:alert(1))',
  '[![x](data:image/svg+xml,x)](javascript:alert(1))',
  'https://a.example/"onmouseover="alert(1)',
  '&lt;img src=x onerror=alert(1)&gt;',
  '<svg/onload=alert(1)>',
  '<a href="javascript:x">a</a>',
  '`<img src=x onerror=alert(1)>`',
  '```html" onclick="x\n<script>\n```',
])('every address is http, https or mail: %s', (text) => {
  const drawn = html(text)
  for (const [, href = ''] of drawn.matchAll(/href="([^"]*)"/g)) expect(href).toMatch(/^(?:https?:\/\/|mailto:)/)
  expect(drawn).not.toMatch(/<(?:script|img|svg|iframe)\b/i)
  expect(drawn.replace(/<[^>]*>/g, (tag) => tag.replace(/"[^"]*"/g, ''))).not.toMatch(/<[^>]*\son\w+/i)
})
