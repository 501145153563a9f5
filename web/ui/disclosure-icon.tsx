import { Icon } from './icon.tsx'
import styles from './disclosure-icon.module.css'

/** The arrow in a `<summary>`: points down while its details are open. */
export const DisclosureIcon = () => <Icon name="right" className={styles.arrow} />
