import type { ApiKey } from '../../../api/team-queries.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { formatAge } from '../../../ui/format.ts'
import { useNow } from '../../../ui/now.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { apiKeysTexts as texts } from './texts.ts'
import styles from './keys-table.module.css'
import typeStyles from '../../../ui/type.module.css'

/** A key that was not used for this long is marked. */
const UNUSED_MS = 90 * 86_400_000

type KeysTableProps = { keys: readonly ApiKey[]; onRevoke: (key: ApiKey) => void }

export function KeysTable({ keys, onRevoke }: KeysTableProps) {
  const now = useNow('half-minute')
  return (
    <DataTable
      cards
      className={styles.table}
      rows={keys}
      keyOf={({ id }) => id}
      columns={[
        { head: texts.columns.name, className: fitStyles.breaks, cell: (key) => key.name },
        {
          head: texts.columns.prefix,
          className: classNames(styles.prefix, fitStyles.nowrap),
          cell: (key) => <span className={typeStyles.mono}>{key.prefix}…</span>,
        },
        {
          head: texts.columns.scopes,
          className: styles.scopes,
          cell: (key) => (
            <span className={styles.list}>
              {key.scopes.map((scope) => (
                <Badge key={scope} tone="plain">
                  {scope}
                </Badge>
              ))}
            </span>
          ),
        },
        {
          head: texts.columns.used,
          label: texts.columns.used,
          className: classNames(styles.used, fitStyles.nowrap, typeStyles.quietFigures),
          cell: (key) => <LastUsed apiKey={key} now={now} />,
        },
        {
          head: texts.columns.expires,
          label: texts.columns.expires,
          className: classNames(styles.expires, fitStyles.nowrap, typeStyles.quietFigures),
          cell: ({ expires_at: at }) =>
            at === null ? (
              <Minor>{texts.noEnd}</Minor>
            ) : Date.parse(at) <= now ? (
              <Badge tone="amber">{texts.expired}</Badge>
            ) : (
              <Time at={at} as="moment" />
            ),
        },
        {
          head: texts.columns.created,
          hiddenAtPx: 900,
          className: typeStyles.quietFigures,
          cell: (key) => <Time at={key.created_at} />,
        },
        {
          head: texts.columns.actions,
          isHeadHidden: true,
          className: classNames(styles.actions, fitStyles.nowrap, fitStyles.textEnd),
          cell: (key) => (
            <Button size="sm" look="danger" aria-label={texts.revokeOf(key.name)} onClick={() => onRevoke(key)}>
              {texts.revoke}
            </Button>
          ),
        },
      ]}
    />
  )
}

function LastUsed({ apiKey, now }: { apiKey: ApiKey; now: number }) {
  const since = apiKey.last_used_at ?? apiKey.created_at
  if (now - Date.parse(since) > UNUSED_MS)
    return <span className={typeStyles.amber}>{texts.unused(formatAge(since, now))}</span>
  return apiKey.last_used_at === null ? <Minor>{texts.never}</Minor> : <Time at={apiKey.last_used_at} as="since" />
}
