import type { AnswerOf } from '../../../../api/call.ts'
import { ErrorNote } from '../../../../forms/error-note.tsx'
import { classNames } from '../../../../ui/class-names.ts'
import fitStyles from '../../../../ui/fit.module.css'
import narrowStyles from '../../../../ui/narrow.module.css'
import { settingsTexts } from '../texts.ts'
import { privacyTexts } from '../privacy-texts.ts'
import styles from './preview.module.css'
import typeStyles from '../../../../ui/type.module.css'

const texts = privacyTexts.scrubbing

type Preview = AnswerOf<'POST /api/projects/:projectId/scrubbing/preview'>

/** The changes of a stored event: path, old value (partly hidden) and new value. */
export function ScrubPreview({ preview, error }: { preview: Preview | undefined; error: Error | null }) {
  if (error !== null) return <ErrorNote error={error} before={texts.previewFailed} labels={settingsTexts.fields} />
  if (preview === undefined) return null
  if (preview.event_id === null) return <p role="status">{texts.noEvent}</p>
  if (preview.total_changes === 0) return <p role="status">{texts.noChange}</p>
  return (
    <>
      <h3 role="status">{texts.changes(preview.total_changes, preview.title ?? '')}</h3>
      <ul className={classNames(styles.diffs, fitStyles.breakSpans)} aria-label={texts.preview}>
        {preview.changes.map(({ path, before, after }) => (
          <li key={path} className={narrowStyles.oneColumnAt600}>
            <span>{path}</span>
            <span>
              <del className={typeStyles.red}>
                <span className={typeStyles.hidden}>{texts.was} </span>
                {before}
              </del>{' '}
              <ins>
                <span className={typeStyles.hidden}>{texts.becomes} </span>
                {after ?? texts.gone}
              </ins>
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}
