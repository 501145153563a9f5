import type { AnswerOf } from '../../../api/call.ts'
import { reasonOf } from '../../../api/change.ts'
import { Note } from '../../../ui/note.tsx'
import { privacyTexts } from '../privacy-texts.ts'
import styles from './preview.module.css'

const words = privacyTexts.scrubbing

type Preview = AnswerOf<'POST /api/projects/:projectId/scrubbing/preview'>

/** What would change in a stored event: where, what was there (its middle hidden), what would be. */
export function ScrubPreview({ preview, error }: { preview: Preview | undefined; error: Error | null }) {
  if (error !== null)
    return (
      <Note tone="red" icon="warn" role="alert">
        {words.previewFailed} {reasonOf(error)}
      </Note>
    )
  if (preview === undefined) return null
  if (preview.event_id === null) return <p role="status">{words.noEvent}</p>
  if (preview.total_changes === 0) return <p role="status">{words.noChange}</p>
  return (
    <>
      <h3 role="status">{words.changes(preview.total_changes, preview.title ?? '')}</h3>
      <ul className={styles.diffs} aria-label={words.preview}>
        {preview.changes.map(({ path, before, after }) => (
          <li key={path}>
            <span>{path}</span>
            <span>
              <del>
                <span className="sr">{words.was} </span>
                {before}
              </del>{' '}
              <ins>
                <span className="sr">{words.becomes} </span>
                {after ?? words.gone}
              </ins>
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}
