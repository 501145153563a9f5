import type { Event } from '../../../../server/protocol/event.api.ts'
import { fileTexts } from '../file-texts.ts'
import { crashFacts } from './native-crash-model.ts'
import styles from '../issue.module.css'

/** What a minidump says about the end of the process, at the side. */
export function NativeCrashCard({ event }: { event: Event }) {
  const minidump = event.contexts['minidump']
  if (minidump === undefined) return null
  const facts = crashFacts(event)
  return (
    <section className="card" aria-labelledby="h-crash">
      <header className="card-h">
        <h2 id="h-crash">{fileTexts.crash}</h2>
      </header>
      {minidump['readable'] === false ? <p className={styles.groupingT}>{fileTexts.unread}</p> : null}
      <dl className="kv">
        {facts.map(({ label, value, note }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd className="mono" title={note}>
              {value}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
