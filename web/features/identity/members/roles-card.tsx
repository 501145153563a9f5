import { can } from '../../../app/can.ts'
import { ROLES_BY_RANK } from '../../../subjects/members/roles.ts'
import { membersTexts as appTexts } from '../../../subjects/members/texts.ts'
import { Card } from '../../../ui/card.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { DataTable, type Column } from '../../../ui/data-table.tsx'
import typeStyles from '../../../ui/type.module.css'
import { membersTexts } from './texts.ts'
import styles from './roles-card.module.css'

const texts = membersTexts.roles

/** Permissions of each role, from the permission matrix. */
export const RolesCard = () => (
  <Card title={texts.title}>
    <DataTable
      className={styles.table}
      scrollLabel={texts.table}
      rows={texts.rows}
      keyOf={({ name }) => name}
      columns={[
        { head: texts.columns.action, cell: ({ name }) => name },
        ...ROLES_BY_RANK.map((role): Column<(typeof texts.rows)[number]> => ({
          head: appTexts.roleNames[role],
          headClass: styles.mark,
          className: styles.mark,
          cell: ({ needs }) =>
            can(role, needs).allowed ? (
              <Icon name="check" label={texts.yes} />
            ) : (
              <Icon name="x" label={texts.no} className={typeStyles.quiet} />
            ),
        })),
      ]}
    />
  </Card>
)
