import type { Event } from '../../../../../server/events/protocol/event.api.ts'
import { fileTexts } from '../file-texts.ts'
import { crashFacts } from './native-crash-model.ts'
import { Card } from '../../../../ui/card.tsx'
import { KeyValues } from '../../../../ui/key-values.tsx'
import styles from '../issue.module.css'
import typeStyles from '../../../../ui/type.module.css'

/** The card with the facts of a native crash. */
export function NativeCrashCard({ event }: { event: Event }) {
  const minidump = event.contexts['minidump']
  if (minidump === undefined) return null
  const facts = crashFacts(event)
  return (
    <Card title={fileTexts.crash}>
      {minidump['readable'] === false ? <p className={styles.groupingT}>{fileTexts.unread}</p> : null}
      <KeyValues>
        {facts.map(({ label, value, note }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd className={typeStyles.mono} title={note}>
              {value}
            </dd>
          </div>
        ))}
      </KeyValues>
    </Card>
  )
}
