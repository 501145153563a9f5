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
import { DataTable } from '../../../ui/data-table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { membersTexts } from './texts.ts'
import styles from './invites.module.css'

const texts = membersTexts.invites

/** Invites that were not accepted yet; absent without any. */
export function Invites() {
  const invites = useQuery(invitesQuery)
  const now = useNow('half-minute')
  return (
    <PageQuery query={invites} what={texts.what} waiting={null}>
      {({ items }) =>
        items.length === 0 ? null : (
          <Card title={texts.title}>
            <DataTable
              cards
              className={classNames(styles.table, fitStyles.nowrapCells)}
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  head: texts.columns.email,
                  className: classNames(styles.email, narrowStyles.cardName),
                  cell: (invite) => invite.email,
                },
                {
                  head: texts.columns.role,
                  className: narrowStyles.cardFact1,
                  cell: (invite) => appTexts.roleNames[invite.role],
                },
                {
                  head: texts.columns.by,
                  className: classNames(styles.by, narrowStyles.cardFact2),
                  cell: (invite) => invite.invited_by?.name ?? texts.formerMember,
                },
                {
                  head: texts.columns.expires,
                  className: styles.expires,
                  cell: ({ expires_at: at }) =>
                    Date.parse(at) <= now ? (
                      <Badge tone="amber">{texts.expired}</Badge>
                    ) : (
                      <Minor>
                        <Time at={at} as="moment" />
                      </Minor>
                    ),
                },
                {
                  head: texts.columns.actions,
                  isHeadHidden: true,
                  className: styles.actions,
                  cell: (invite) => <Actions invite={invite} />,
                },
              ]}
            />
          </Card>
        )
      }
    </PageQuery>
  )
}

function Actions({ invite }: { invite: Invite }) {
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
  )
}
