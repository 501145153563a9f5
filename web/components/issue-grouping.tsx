import { useState } from 'react'
import type { IssueDetail } from '../api/issue-queries.ts'
import { issue as words } from '../words/issue.ts'
import { LongText } from './contexts-value.tsx'

/** Longer labels stand above their value. */
const SHORT_LABEL = 9
const LONGEST_VALUE = 300

const isVariant = (name: string): name is keyof typeof words.variants => name in words.variants

/** Why these events are one issue: what their fingerprint was made of. */
export function IssueGrouping({ grouping }: { grouping: IssueDetail['grouping'] }) {
  return (
    <section className="card" id="grouping" aria-labelledby="h-grouping">
      <header className="card-h">
        <h2 id="h-grouping" tabIndex={-1}>
          {words.grouping}
        </h2>
        <span className="sub">{words.groupingVersion(grouping.version)}</span>
      </header>
      <p className="grouping-t">{words.groupingText}</p>
      {grouping.parts.map((part) => (
        <Part key={part.variant} part={part} />
      ))}
    </section>
  )
}

/** So many values say enough; a stack can have hundreds of frames. */
const VALUES_AT_START = 8

function Part({ part }: { part: IssueDetail['grouping']['parts'][number] }) {
  const [whole, setWhole] = useState(false)
  const values = whole ? part.values : part.values.slice(0, VALUES_AT_START)
  return (
    <div className="part">
      <h3>{isVariant(part.variant) ? words.variants[part.variant] : part.variant}</h3>
      <dl className="kv mono-v">
        {values.map(({ label, value }, index) => (
          // Frames share their label; their order counts.
          <div key={`${label} ${index}`} className={label.length > SHORT_LABEL ? 'is-long' : undefined}>
            <dt>{label}</dt>
            <dd>
              <LongText text={value} most={LONGEST_VALUE} />
            </dd>
          </div>
        ))}
      </dl>
      {values.length === part.values.length ? null : (
        <p className="tag-more">
          <button type="button" className="link-t" onClick={() => setWhole(true)}>
            {words.showAllValues(part.values.length)}
          </button>
        </p>
      )}
    </div>
  )
}
