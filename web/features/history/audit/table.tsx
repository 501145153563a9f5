import { Link } from '@tanstack/react-router'
import type { AuditEntry } from '../../../api/audit-queries.ts'
import { paths } from '../../../address/paths.ts'
import type { AuditSearch } from '../../../address/search.ts'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import { ColumnHead, Table } from '../../../ui/table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { actorName, targetName, repeatCountText } from './model.ts'
import { Outcome } from './outcome.tsx'
import { auditTexts as texts } from './texts.ts'
import styles from './table.module.css'
import typeStyles from '../../../ui/type.module.css'

type AuditTableProps = { entries: readonly AuditEntry[]; search: AuditSearch }

/** The entries; an action opens the whole entry. */
export const AuditTable = ({ entries, search }: AuditTableProps) => (
  <Table className={classNames(styles.table, fitStyles.nowrapAll)}>
    <thead>
      <tr>
        <ColumnHead>{texts.columns.time}</ColumnHead>
        <ColumnHead>{texts.columns.action}</ColumnHead>
        <ColumnHead>{texts.columns.actor}</ColumnHead>
        <ColumnHead>{texts.columns.target}</ColumnHead>
        <ColumnHead className={classNames(typeStyles.small, narrowStyles.hiddenAt900, typeStyles.quietFigures)}>
          {texts.columns.address}
        </ColumnHead>
        <ColumnHead>{texts.columns.outcome}</ColumnHead>
      </tr>
    </thead>
    <tbody>
      {entries.map((entry) => (
        <EntryRow key={entry.id} entry={entry} search={search} />
      ))}
    </tbody>
  </Table>
)

function EntryRow({ entry, search }: { entry: AuditEntry; search: AuditSearch }) {
  const target = targetName(entry.target)
  const actor = actorName(entry.actor)
  const times = repeatCountText(entry)
  return (
    <tr>
      <td className={classNames(styles.time, typeStyles.quietFigures)}>
        <Time at={entry.created_at} as="moment" />
      </td>
      <th scope="row" className={classNames(styles.action, typeStyles.smallLinks, choiceStyles.underlineLinks)}>
        <Link className={typeStyles.mono} {...paths.audit({ ...search, entry: entry.id })} resetScroll={false}>
          {entry.action}
        </Link>
      </th>
      <td className={styles.actor} title={actor}>
        {actor}
      </td>
      <td className={styles.target} title={target ?? undefined}>
        {target}
      </td>
      <td className={classNames(typeStyles.small, narrowStyles.hiddenAt900, typeStyles.quietFigures)}>
        {entry.ip === null ? <Minor>{texts.noAddress}</Minor> : <span className={typeStyles.mono}>{entry.ip}</span>}
      </td>
      <td className={classNames(styles.outcome, typeStyles.quietFigures)}>
        <Outcome outcome={entry.outcome} /> {times === null ? null : <Minor>{times}</Minor>}
      </td>
    </tr>
  )
}
