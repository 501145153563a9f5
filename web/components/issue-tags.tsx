import { useState } from 'react'
import type { Event } from '../../server/protocol/event.api.ts'
import type { IssueDetail } from '../api/issue-queries.ts'
import { formatCount } from '../ui/format.ts'
import { issue as words } from '../words/issue.ts'

const KEYS_AT_START = 9
const VALUES = 4

type Distribution = IssueDetail['tag_distribution'][number]

/** What the newest events have in common, and the tags of the event that is shown. */
export function IssueTags({ distribution, event }: { distribution: readonly Distribution[]; event: Event | null }) {
  const [whole, setWhole] = useState(false)
  const tags = event?.tags ?? []
  if (distribution.length === 0 && tags.length === 0) return null
  const sampled = Math.max(0, ...distribution.map((tag) => tag.total))
  const shown = whole ? distribution : distribution.slice(0, KEYS_AT_START)
  return (
    <section className="card" aria-labelledby="h-tags">
      <header className="card-h">
        <h2 id="h-tags" tabIndex={-1}>
          {words.share}
        </h2>
        {sampled === 0 ? null : <span className="sub">{words.shareOf(sampled)}</span>}
      </header>
      {shown.length === 0 ? null : (
        <div className="tagds">
          {shown.map((tag) => (
            <TagValues key={tag.key} tag={tag} own={tags.find((one) => one.key === tag.key)?.value ?? null} />
          ))}
        </div>
      )}
      {shown.length === distribution.length ? null : (
        <p className="tag-more">
          <button type="button" className="link-t" onClick={() => setWhole(true)}>
            {words.showAllTags(distribution.length)}
          </button>
        </p>
      )}
      {tags.length === 0 ? null : (
        <div className="tag-own">
          <h3>{words.tags}</h3>
          <ul className="chipset">
            {tags.map((tag, index) => (
              // An SDK may send a key twice.
              <li key={`${tag.key} ${index}`} className="mono">
                <span>{tag.key}</span> <b>{tag.value}</b>
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}

function TagValues({ tag, own }: { tag: Distribution; own: string | null }) {
  const values = tag.values.slice(0, VALUES)
  const rest = tag.total - values.reduce((sum, { count }) => sum + count, 0)
  const rows = rest > 0 ? [...values, { value: null, count: rest }] : values
  return (
    <div className="tagd">
      <h3 title={tag.key}>{tag.key}</h3>
      <ul>
        {rows.map(({ value, count }) => {
          const percent = Math.round((count / tag.total) * 100)
          return (
            <li key={value ?? ''} className="tagrow" title={`${value ?? words.other}: ${formatCount(count)}`}>
              <span className={value !== null && value === own ? 'tl is-own' : 'tl'}>
                {value === '' ? '“”' : (value ?? words.other)}
              </span>
              <span className="tb" aria-hidden="true">
                <span style={{ inlineSize: `${percent}%` }} />
              </span>
              <span className="num">
                {percent === 0 ? '<1' : percent}
                {'\u202f'}%
              </span>
            </li>
          )
        })}
      </ul>
    </div>
  )
}
