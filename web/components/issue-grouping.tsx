import type { IssueDetail } from '../api/issue-queries.ts'
import { issue as words } from '../words/issue.ts'

/** Longer labels stand above their value. */
const SHORT_LABEL = 9

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
      {grouping.parts.map((part) => (
        <div key={part.variant} className="part">
          <h3>{isVariant(part.variant) ? words.variants[part.variant] : part.variant}</h3>
          <dl className="kv mono-v">
            {part.values.map(({ label, value }, index) => (
              // Frames share their label; their order counts.
              <div key={`${label} ${index}`} className={label.length > SHORT_LABEL ? 'is-long' : undefined}>
                <dt>{label}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </div>
      ))}
    </section>
  )
}
