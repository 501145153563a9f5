import { can } from '../../../app/can.ts'
import { ROLES_BY_RANK } from '../../../subjects/members/roles.ts'
import { membersTexts as appTexts } from '../../../subjects/members/texts.ts'
import { Card } from '../../../ui/card.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { ColumnHead, Table } from '../../../ui/table.tsx'
import typeStyles from '../../../ui/type.module.css'
import { membersTexts } from './texts.ts'
import styles from './roles-card.module.css'

const texts = membersTexts.roles

/** Permissions of each role, from the permission matrix. */
export const RolesCard = () => (
  <Card title={texts.title}>
    <Table className={styles.table} scrollLabel={texts.table}>
      <thead>
        <tr>
          <ColumnHead>{texts.columns.action}</ColumnHead>
          {ROLES_BY_RANK.map((role) => (
            <ColumnHead key={role} className={styles.mark}>
              {appTexts.roleNames[role]}
            </ColumnHead>
          ))}
        </tr>
      </thead>
      <tbody>
        {texts.rows.map(({ name, needs }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {ROLES_BY_RANK.map((role) => (
              <td key={role} className={styles.mark}>
                {can(role, needs).allowed ? (
                  <Icon name="check" label={texts.yes} />
                ) : (
                  <Icon name="x" label={texts.no} className={typeStyles.quiet} />
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </Table>
  </Card>
)
