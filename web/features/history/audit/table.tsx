import { Link } from '@tanstack/react-router'
import type { AuditEntry } from '../../../api/audit-queries.ts'
import { paths } from '../../../address/paths.ts'
import type { AuditSearch } from '../../../address/search.ts'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { DataTable } from '../../../ui/data-table.tsx'
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
  <DataTable
    cards
    className={classNames(styles.table, fitStyles.nowrapAll)}
    rows={entries}
    keyOf={({ id }) => id}
    columns={[
      {
        head: texts.columns.time,
        className: classNames(styles.time, typeStyles.quietFigures),
        cell: (entry) => <Time at={entry.created_at} as="moment" />,
      },
      {
        head: texts.columns.action,
        isName: true,
        className: classNames(styles.action, typeStyles.smallLinks, choiceStyles.underlineLinks),
        cell: (entry) => (
          <Link className={typeStyles.mono} {...paths.audit({ ...search, entry: entry.id })} resetScroll={false}>
            {entry.action}
          </Link>
        ),
      },
      {
        head: texts.columns.actor,
        className: styles.actor,
        title: (entry) => actorName(entry.actor),
        cell: (entry) => actorName(entry.actor),
      },
      {
        head: texts.columns.target,
        className: styles.target,
        title: (entry) => targetName(entry.target),
        cell: (entry) => targetName(entry.target),
      },
      {
        head: texts.columns.address,
        hiddenAtPx: 900,
        className: classNames(typeStyles.small, typeStyles.quietFigures),
        cell: ({ ip }) =>
          ip === null ? <Minor>{texts.noAddress}</Minor> : <span className={typeStyles.mono}>{ip}</span>,
      },
      {
        head: texts.columns.outcome,
        className: classNames(styles.outcome, typeStyles.quietFigures),
        cell: (entry) => {
          const times = repeatCountText(entry)
          return (
            <>
              <Outcome outcome={entry.outcome} /> {times === null ? null : <Minor>{times}</Minor>}
            </>
          )
        },
      },
    ]}
  />
)
