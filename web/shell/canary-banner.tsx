import { useQuery } from '@tanstack/react-query'
import { canaryQuery } from '../api/canary-query.ts'
import { Note } from '../ui/note.tsx'
import { canaryTexts } from './canary-texts.ts'
import shellStyles from './shell.module.css'

/** Says that alerts do not arrive, and what to do, while the end-to-end test fails. */
export function CanaryBanner() {
  const { data } = useQuery(canaryQuery)
  if (data?.state !== 'broken') return null
  return (
    <div className={shellStyles.banner}>
      <Note tone="red" icon="warn" role="status">
        <b>{canaryTexts.alertsFail}</b> {data.explanation}
      </Note>
    </div>
  )
}
