// A card at the top of a tab: a title, a large figure, and pairs of a name and a value.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";

export function Card(props: { title: string; children: ComponentChildren }) {
  return (
    <section class="card">
      <h2>{props.title}</h2>
      {props.children}
    </section>
  );
}

// `children`: pairs.
export function FigureCard(props: { title: string; large: ComponentChildren; children: ComponentChildren }) {
  return (
    <Card title={props.title}>
      <p class="large">{props.large}</p>
      <dl>{props.children}</dl>
    </Card>
  );
}

export function Pair(props: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}
