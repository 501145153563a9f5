/** A cart as the app keeps it between visits. */
export class Cart {
  constructor(stored) {
    this.stored = stored
  }

  total() {
    return this.items().reduce((sum, item) => sum + item.price * item.quantity, 0)
  }

  items() {
    const { items } = JSON.parse(this.stored)
    return items.filter((item) => item.quantity > 0)
  }
}
