import { useQuery } from '@tanstack/react-query'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { invitesQuery, type Invite } from '../../../api/team-queries.ts'
import { membersTexts as appTexts } from '../../../subjects/members/texts.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import { useNow } from '../../../ui/now.ts'
import { Toolbar } from '../../../ui/stack.tsx'
import { ColumnHead, Table } from '../../../ui/table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { membersTexts } from './texts.ts'
import styles from './invites.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = membersTexts.invites

/** Invites that were not accepted yet; absent without any. */
export function Invites() {
  const invites = useQuery(invitesQuery)
  return (
    <PageQuery query={invites} what={texts.what} waiting={null}>
      {({ items }) =>
        items.length === 0 ? null : (
          <Card title={texts.title}>
            <Table cards className={classNames(styles.table, fitStyles.nowrapCells)}>
              <thead>
                <tr>
                  <ColumnHead>{texts.columns.email}</ColumnHead>
                  <ColumnHead>{texts.columns.role}</ColumnHead>
                  <ColumnHead>{texts.columns.by}</ColumnHead>
                  <ColumnHead>{texts.columns.expires}</ColumnHead>
                  <ColumnHead>
                    <span className={typeStyles.hidden}>{texts.columns.actions}</span>
                  </ColumnHead>
                </tr>
              </thead>
              <tbody>
                {items.map((invite) => (
                  <InviteRow key={invite.id} invite={invite} />
                ))}
              </tbody>
            </Table>
          </Card>
        )
      }
    </PageQuery>
  )
}

function InviteRow({ invite }: { invite: Invite }) {
  const now = useNow('half-minute')
  const params = { inviteId: invite.id }
  const resend = useChange({
    send: () => call('POST /api/invites/:inviteId/resend', { params }),
    same: () => 'resend',
    touches: () => [['team', 'invites']],
    said: () => texts.resent(invite.email),
    failed: texts.notResent,
  })
  const revoke = useChange({
    send: () => call('DELETE /api/invites/:inviteId', { params }),
    same: () => 'revoke',
    touches: () => [['team', 'invites']],
    said: () => texts.revoked(invite.email),
    failed: texts.notRevoked,
  })
  return (
    <tr>
      <th scope="row" className={classNames(styles.email, narrowStyles.cardName)}>
        {invite.email}
      </th>
      <td className={narrowStyles.cardFact1}>{appTexts.roleNames[invite.role]}</td>
      <td className={classNames(styles.by, narrowStyles.cardFact2)}>{invite.invited_by?.name ?? texts.formerMember}</td>
      <td className={styles.expires}>
        {Date.parse(invite.expires_at) <= now ? (
          <Badge tone="amber">{texts.expired}</Badge>
        ) : (
          <Minor>
            <Time at={invite.expires_at} as="moment" />
          </Minor>
        )}
      </td>
      <td className={styles.actions}>
        <Toolbar align="end">
          <Button
            size="sm"
            busy={resend.isPending}
            aria-label={`${texts.resend}: ${invite.email}`}
            onClick={() => resend.mutate(undefined)}
          >
            {texts.resend}
          </Button>
          <Button
            size="sm"
            look="danger"
            busy={revoke.isPending}
            aria-label={`${texts.revoke}: ${invite.email}`}
            onClick={() => revoke.mutate(undefined)}
          >
            {texts.revoke}
          </Button>
        </Toolbar>
      </td>
    </tr>
  )
}
