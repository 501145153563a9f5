import { fromMarkdown } from 'mdast-util-from-markdown'
import { Fragment, useMemo, type ReactNode } from 'react'
import { safeUrl } from './contexts-facts.ts'

type Root = ReturnType<typeof fromMarkdown>
type Node = Root['children'][number]

/**
 * Markdown as React elements, never as markup: raw HTML is shown as the text it is, pictures are links (a comment must
 * not make readers' browsers call somebody), and only http, https and mailto addresses can be followed.
 */
export function Markdown({ text }: { text: string }) {
  const tree = useMemo(() => fromMarkdown(text), [text])
  return <div className="md">{many(tree.children)}</div>
}

const many = (nodes: readonly Node[]): ReactNode =>
  // A tree made from one text: places are names.
  nodes.map((node, index) => <Fragment key={index}>{one(node)}</Fragment>)

function one(node: Node): ReactNode {
  switch (node.type) {
    case 'text':
      return <PlainText text={node.value} />
    case 'paragraph':
      return <p>{many(node.children)}</p>
    case 'emphasis':
      return <em>{many(node.children)}</em>
    case 'strong':
      return <strong>{many(node.children)}</strong>
    case 'inlineCode':
      return <code>{node.value}</code>
    case 'code':
      return (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <pre tabIndex={0}>
          <code>{node.value}</code>
        </pre>
      )
    case 'blockquote':
      return <blockquote>{many(node.children)}</blockquote>
    case 'heading':
      // The page has its own headings; those of a comment are only bold.
      return (
        <p>
          <strong>{many(node.children)}</strong>
        </p>
      )
    case 'list':
      return node.ordered === true ? (
        <ol start={node.start ?? 1}>{many(node.children)}</ol>
      ) : (
        <ul>{many(node.children)}</ul>
      )
    case 'listItem':
      return <li>{many(node.children)}</li>
    case 'thematicBreak':
      return <hr />
    case 'break':
      return <br />
    case 'link':
      return <Away url={node.url}>{many(node.children)}</Away>
    case 'image':
      return <Away url={node.url}>{node.alt == null || node.alt === '' ? node.url : node.alt}</Away>
    case 'html':
      return node.value
    default:
      // References and definitions lead nowhere safe by themselves; their text stays readable.
      return 'children' in node ? many(node.children) : null
  }
}

function Away({ url, children }: { url: string; children: ReactNode }) {
  const href = /^mailto:/iu.test(url) ? url : safeUrl(url)
  if (href === null) return children
  return (
    <a className="link" href={href} rel="noopener noreferrer nofollow" target="_blank">
      {children}
    </a>
  )
}

const ADDRESS = /https?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]}]/giu

/** Line breaks as they were typed, bare addresses as links. */
function PlainText({ text }: { text: string }) {
  return text.split('\n').map((line, index) => (
    <Fragment key={index}>
      {index === 0 ? null : <br />}
      {linked(line)}
    </Fragment>
  ))
}

function linked(line: string): ReactNode {
  const parts: ReactNode[] = []
  let from = 0
  for (const match of line.matchAll(ADDRESS)) {
    parts.push(line.slice(from, match.index))
    parts.push(
      <Away key={match.index} url={match[0]}>
        {match[0]}
      </Away>,
    )
    from = match.index + match[0].length
  }
  return from === 0 ? line : [...parts, line.slice(from)]
}
