import { ErrorNote } from '../../../../forms/error-note.tsx'
import { Link } from '@tanstack/react-router'
import type { AnswerOf } from '../../../../api/call.ts'
import { paths } from '../../../../address/paths.ts'
import { classNames } from '../../../../ui/class-names.ts'
import { formatCount } from '../../../../ui/format.ts'
import stackStyles from '../../../../ui/stack.module.css'
import { Minor, ShortId } from '../../../../ui/text.tsx'
import { groupingTexts } from './texts.ts'
import styles from './preview.module.css'
import typeStyles from '../../../../ui/type.module.css'

export type Preview = AnswerOf<'POST /api/projects/:projectId/grouping/preview'>

const SHOWN = 8
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })

/** The issues that would be merged, and those that would be split. */
export function GroupingPreview({ preview, error }: { preview: Preview | undefined; error: Error | null }) {
  if (error !== null) return <ErrorNote error={error} before={groupingTexts.tryFailed} />
  if (preview === undefined) return null
  if (preview.of === 0 || preview.oldest_at === null) return <p role="status">{groupingTexts.nothingStored}</p>
  const isSame = preview.merges_total + preview.splits_total + preview.moved === 0
  return (
    <div className={classNames(styles.preview, typeStyles.tallLinks, stackStyles.stack, typeStyles.smallHeads)}>
      <p role="status">
        {groupingTexts.checked(preview.looked_at, preview.of, preview.issues, day.format(new Date(preview.oldest_at)))}{' '}
        <b>{isSame ? groupingTexts.same : groupingTexts.moved(preview.moved)}</b>
      </p>
      {preview.merges.length === 0 ? null : (
        <>
          <h3>{groupingTexts.merges(preview.merges_total)}</h3>
          <ul>
            {preview.merges.slice(0, SHOWN).map(({ issues, events }) => (
              <li key={issues.map(({ id }) => id).join()}>
                <Minor className={typeStyles.figures}>{groupingTexts.together(events)}</Minor>
                <ul>
                  {issues.slice(0, SHOWN).map((issue) => (
                    <IssueLine key={issue.id} issue={issue} />
                  ))}
                </ul>
              </li>
            ))}
          </ul>
        </>
      )}
      {preview.splits.length === 0 ? null : (
        <>
          <h3>{groupingTexts.splits(preview.splits_total)}</h3>
          <ul>
            {preview.splits.slice(0, SHOWN).map(({ issue, parts }) => (
              <li key={issue.id}>
                <ul>
                  <IssueLine issue={issue} />
                </ul>
                <Minor className={typeStyles.figures}>
                  {groupingTexts.parts(parts.length)}: {parts.map(({ events }) => formatCount(events)).join(' + ')}
                </Minor>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

const IssueLine = ({ issue }: { issue: Preview['splits'][number]['issue'] }) => (
  <li>
    <Link className={typeStyles.link} {...paths.issue(issue.id)}>
      <ShortId>{issue.short_id}</ShortId> {issue.title}
    </Link>
  </li>
)
