/** How a message is shown in a list (pure). */

const MAX_TITLE = 90

/** The first sentence of a message as its title, and the rest. */
export function splitMessage(message: string): { readonly title: string; readonly rest: string } {
  const text = message.trim().replaceAll(/\s+/gu, ' ')
  const end = /[.!?。！？](?=\s)/u.exec(text)
  const first = end === null ? text : text.slice(0, end.index + 1)
  const title = first.length <= MAX_TITLE ? first : cutAtWord(first)
  return { title: title.replace(/\.$/u, ''), rest: text.slice(title.replace(/…$/u, '').length).trim() }
}

/** The beginning of a text, up to the end of a word where there is one. */
function cutAtWord(text: string): string {
  const cut = text.slice(0, MAX_TITLE)
  const space = cut.lastIndexOf(' ')
  return `${cut
    .slice(0, space > MAX_TITLE / 2 ? space : MAX_TITLE)
    .toWellFormed()
    .replace(/\uFFFD$/u, '')}…`
}

/** The message that is shown when this one leaves the list: the next, or the one before at the end. */
export function findNeighbour(ids: readonly string[], id: string): string | undefined {
  const at = ids.indexOf(id)
  return at < 0 ? ids[0] : (ids[at + 1] ?? ids[at - 1])
}
