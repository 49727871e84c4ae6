// Errors as sentences: of the whole page, and of one tab.
// SPDX-License-Identifier: Apache-2.0
import { Component, type ComponentChildren } from "preact";
import { DocumentError } from "../model/document.ts";
import { type ServedFile, ServerEnded } from "../model/server.ts";
import { FileSelect } from "./file_select.tsx";

export function Failure(props: { message: string }) {
  return (
    <p class="failure" role="alert">
      {props.message}
    </p>
  );
}

// Shown in place of the page if none of several files can be shown.
export function NoFile(props: { message: string; files: ServedFile[]; open: (id: string) => void }) {
  return (
    <main class="no-file">
      <Failure message={props.message} />
      <FileSelect files={props.files} chosen="" open={props.open} />
    </main>
  );
}

export function failureText(error: unknown): string {
  if (error instanceof DocumentError) return error.message;
  return `The page failed: ${error instanceof Error ? error.message : String(error)}. Please report it with this text.`;
}

// Of a part of the page. That the server has ended is said once, at the top.
export function partFailureText(error: unknown): string {
  return error instanceof ServerEnded ? "" : failureText(error);
}

// A tab that fails leaves the other tabs usable.
export class FailureBoundary extends Component<{ children: ComponentChildren }, { message: string }> {
  override state = { message: "" };

  override componentDidCatch(error: unknown): void {
    this.setState({ message: failureText(error) });
  }

  override render() {
    return this.state.message === "" ? this.props.children : <Failure message={this.state.message} />;
  }
}
