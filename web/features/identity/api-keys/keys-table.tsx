import type { ApiKey } from '../../../api/team-queries.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { formatAge } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { useNow } from '../../../ui/now.ts'
import { ColumnHead, Table } from '../../../ui/table.tsx'
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
    <Table cards className={styles.table}>
      <thead>
        <tr>
          <ColumnHead>{texts.columns.name}</ColumnHead>
          <ColumnHead>{texts.columns.prefix}</ColumnHead>
          <ColumnHead>{texts.columns.scopes}</ColumnHead>
          <ColumnHead>{texts.columns.used}</ColumnHead>
          <ColumnHead>{texts.columns.expires}</ColumnHead>
          <ColumnHead className={narrowStyles.hiddenAt900}>{texts.columns.created}</ColumnHead>
          <ColumnHead>
            <span className={typeStyles.hidden}>{texts.columns.actions}</span>
          </ColumnHead>
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <tr key={key.id}>
            <th scope="row" className={fitStyles.breaks}>
              {key.name}
            </th>
            <td className={classNames(styles.prefix, fitStyles.nowrap)}>
              <span className={typeStyles.mono}>{key.prefix}…</span>
            </td>
            <td className={styles.scopes}>
              <span className={styles.list}>
                {key.scopes.map((scope) => (
                  <Badge key={scope} tone="plain">
                    {scope}
                  </Badge>
                ))}
              </span>
            </td>
            <td
              className={classNames(styles.used, fitStyles.nowrap, typeStyles.quietFigures)}
              data-label={texts.columns.used}
            >
              <LastUsed apiKey={key} now={now} />
            </td>
            <td
              className={classNames(styles.expires, fitStyles.nowrap, typeStyles.quietFigures)}
              data-label={texts.columns.expires}
            >
              {key.expires_at === null ? (
                <Minor>{texts.noEnd}</Minor>
              ) : Date.parse(key.expires_at) <= now ? (
                <Badge tone="amber">{texts.expired}</Badge>
              ) : (
                <Time at={key.expires_at} as="moment" />
              )}
            </td>
            <td className={classNames(narrowStyles.hiddenAt900, typeStyles.quietFigures)}>
              <Time at={key.created_at} />
            </td>
            <td className={classNames(styles.actions, fitStyles.nowrap, fitStyles.textEnd)}>
              <Button size="sm" look="danger" aria-label={texts.revokeOf(key.name)} onClick={() => onRevoke(key)}>
                {texts.revoke}
              </Button>
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  )
}

function LastUsed({ apiKey, now }: { apiKey: ApiKey; now: number }) {
  const since = apiKey.last_used_at ?? apiKey.created_at
  if (now - Date.parse(since) > UNUSED_MS)
    return <span className={typeStyles.amber}>{texts.unused(formatAge(since, now))}</span>
  return apiKey.last_used_at === null ? <Minor>{texts.never}</Minor> : <Time at={apiKey.last_used_at} as="since" />
}
