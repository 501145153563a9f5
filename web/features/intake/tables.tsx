import type { Intake } from '../../api/intake-queries.ts'
import { Card } from '../../ui/card.tsx'
import { Key } from '../../ui/chart/legend.tsx'
import type { ChartTone } from '../../ui/chart/tones.ts'
import { formatCount, formatRate } from '../../ui/format.ts'
import { intakeTexts } from './texts.ts'
import settingsStyles from '../../common/settings.module.css'
import styles from './tables.module.css'

type Outcome = Intake['totals'][number]['outcome']

const TONES: Readonly<Record<Outcome, ChartTone>> = {
  accepted: 'quiet',
  filtered: 'base',
  duplicate: 'base',
  discarded: 'base',
  rate_limited: 'high',
  invalid: 'crit',
  dropped: 'crit',
}

/** Every outcome with its reason, most first. */
export function OutcomeTable({ totals, all }: { totals: Intake['totals']; all: number }) {
  return (
    <Card title={intakeTexts.outcomesTitle} header={<span className="sub">{intakeTexts.outcomesMore}</span>}>
      <table className={`t ${styles.table}`}>
        <thead>
          <tr>
            <th scope="col">{intakeTexts.columns.outcome}</th>
            <th scope="col">{intakeTexts.columns.why}</th>
            <th scope="col">{intakeTexts.columns.what}</th>
            <th scope="col" className="num">
              {intakeTexts.columns.count}
            </th>
          </tr>
        </thead>
        <tbody>
          {totals.map(({ outcome, reason, category, quantity }) => (
            <tr key={`${outcome} ${reason} ${category}`}>
              <th scope="row">
                <Key tone={TONES[outcome]} mark="bar" /> {intakeTexts.outcomes[outcome]}
              </th>
              <td className={styles.why} title={reason === '' ? undefined : reason}>
                {intakeTexts.reasonWord(outcome, reason)}
              </td>
              <td className={styles.what}>{intakeTexts.categoryWord(category)}</td>
              <td className="num" title={category === 'internal' || all === 0 ? undefined : formatRate(quantity / all)}>
                {formatCount(quantity)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

/** What SDKs say never got here. */
export function LossTable({ losses }: { losses: Intake['client_losses'] }) {
  return (
    <Card title={intakeTexts.lostTitle} header={<span className="sub">{intakeTexts.lostMore}</span>}>
      {losses.length === 0 ? (
        <p className={`${settingsStyles.body} sub`}>{intakeTexts.nothingLost}</p>
      ) : (
        <table className={`t ${styles.table}`}>
          <thead>
            <tr>
              <th scope="col">{intakeTexts.columns.why}</th>
              <th scope="col">{intakeTexts.columns.what}</th>
              <th scope="col" className="num">
                {intakeTexts.columns.count}
              </th>
            </tr>
          </thead>
          <tbody>
            {losses.map(({ kind, reason, category, quantity }) => (
              <tr key={`${kind} ${reason} ${category}`}>
                <th scope="row" className={styles.why} title={reason === '' ? undefined : reason}>
                  {intakeTexts.lossWord(kind, reason)}
                </th>
                <td className={styles.what}>{intakeTexts.categoryWord(category)}</td>
                <td className="num">{formatCount(quantity)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}

/** Which key sends what; shown when there is more than one. */
export function KeyTable({ keys }: { keys: Intake['keys'] }) {
  return (
    <Card title={intakeTexts.keysTitle}>
      <table className={`t ${styles.table}`}>
        <thead>
          <tr>
            <th scope="col">{intakeTexts.columns.key}</th>
            <th scope="col">{intakeTexts.columns.outcome}</th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.key_id}>
              <th scope="row" className={key.public_key === null ? 'sub' : 'mono'}>
                {key.public_key === null ? intakeTexts.keyGone : `${key.public_key.slice(0, 8)}…`}
              </th>
              <td className={styles.why}>
                {key.outcomes
                  .map(
                    ({ outcome, quantity }) =>
                      `${formatCount(quantity)} ${intakeTexts.outcomes[outcome].toLowerCase()}`,
                  )
                  .join(', ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}
