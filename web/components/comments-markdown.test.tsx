import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Markdown } from './comments-markdown.tsx'

const html = (text: string): string => renderToStaticMarkup(<Markdown text={text} />)

test('what people write in comments is drawn', () => {
  expect(html('**Mine.** Posting through `viewLifecycleOwner` *fixes* it\nlocally.')).toBe(
    '<div class="md"><p><strong>Mine.</strong> Posting through <code>viewLifecycleOwner</code> <em>fixes</em> it<br/>locally.</p></div>',
  )
  expect(html('1. one\n2. two')).toContain('<ol start="1"><li><p>one</p></li>')
  expect(html('# Title')).not.toContain('<h1')
})

test('addresses are links, with or without markup', () => {
  const link = '<a class="link" href="https://shop.example/a" rel="noopener noreferrer nofollow" target="_blank">'
  expect(html('see https://shop.example/a.')).toContain(`${link}https://shop.example/a</a>.`)
  expect(html('[here](https://shop.example/a)')).toContain(`${link}here</a>`)
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
